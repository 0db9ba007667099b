// A cylinder of diameter 1 in a stream along x: one layer of hexahedra, curved where they meet the wall.
//   gmsh -3 -order 2 -format msh22 cylinder.geo -o cylinder.msh
SetFactory("Built-in");
r = 0.5;     // cylinder
R = 2;       // ring of structured cells around it
far = 20;    // sides and inflow
wake = 30;   // outflow
around = 5;  // edges on a quarter of the wall
out = 5;     // edges across the ring

Point(1) = {0, 0, 0};
c = Sqrt(0.5);
Point(11) = {r * c, r * c, 0};
Point(12) = {-r * c, r * c, 0};
Point(13) = {-r * c, -r * c, 0};
Point(14) = {r * c, -r * c, 0};
Point(21) = {R * c, R * c, 0};
Point(22) = {-R * c, R * c, 0};
Point(23) = {-R * c, -R * c, 0};
Point(24) = {R * c, -R * c, 0};
For k In {1:4}
  n = k % 4 + 1;
  Circle(10 + k) = {10 + k, 1, 10 + n};
  Circle(20 + k) = {20 + k, 1, 20 + n};
  Line(30 + k) = {10 + k, 20 + k};
EndFor
For k In {1:4}
  n = k % 4 + 1;
  Curve Loop(k) = {30 + k, 20 + k, -(30 + n), -(10 + k)};
  Plane Surface(k) = {k};
EndFor
Transfinite Curve {11:14, 21:24} = around + 1;
Transfinite Curve {31:34} = out + 1 Using Progression 1.4;
Transfinite Surface {1:4};

Point(41) = {-far, -far, 0, 5};
Point(42) = {wake, -far, 0, 5};
Point(43) = {wake, far, 0, 5};
Point(44) = {-far, far, 0, 5};
Line(41) = {41, 42};
Line(42) = {42, 43};
Line(43) = {43, 44};
Line(44) = {44, 41};
Curve Loop(5) = {41, 42, 43, 44};
Curve Loop(6) = {21, 22, 23, 24};
Plane Surface(5) = {5, 6};

// Cells grow away from the cylinder, slowly along its wake.
Field[1] = MathEval;
Field[1].F = "0.5 + 0.28 * (Sqrt(x^2 + y^2) - 2)";
Field[2] = MathEval;
Field[2].F = "0.5 + 0.04 * Fabs(x) + 0.6 * Max(Fabs(y) - 1.8, 0) + 3 * Max(-x, 0)";
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.Algorithm = 6;
Mesh.RecombinationAlgorithm = 1;
Recombine Surface {1:5};

slab[] = Extrude {0, 0, 1} { Surface {1:5}; Layers {1}; Recombine; };
// Of each extruded surface: its copy, the volume, its sides in the order of its curves.
Physical Volume("gas") = {slab[1], slab[7], slab[13], slab[19], slab[25]};
Physical Surface("cylinder") = {slab[5], slab[11], slab[17], slab[23]};
Physical Surface("outflow") = {slab[27]};
Physical Surface("far") = {slab[26], slab[28], slab[29]};
Physical Surface("sides") = {1:5, slab[0], slab[6], slab[12], slab[18], slab[24]};
