// A box with periodic sides along x and y, in tetrahedra.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Transfinite Curve {1:12} = 2;
Periodic Surface {2} = {1} Translate {1, 0, 0};
Periodic Surface {4} = {3} Translate {0, 1, 0};
Physical Volume("box", 1) = {1};
Physical Surface("z", 2) = {5, 6};
