// A quarter of a tube: hexahedra inside, prisms outside, pyramids and tetrahedra on top of the hexahedra.
Point(1) = {0,0,0}; Point(2) = {1,0,0}; Point(3) = {0,1,0}; Point(4) = {2,0,0}; Point(5) = {0,2,0}; Point(6) = {3,0,0}; Point(7) = {0,3,0};
Circle(1) = {2,1,3}; Circle(2) = {4,1,5}; Circle(5) = {6,1,7};
Line(3) = {2,4}; Line(4) = {3,5}; Line(6) = {4,6}; Line(7) = {5,7};
Transfinite Curve{1,2,5} = 3; Transfinite Curve{3,4,6,7} = 2;
Curve Loop(1) = {3,2,-4,-1}; Plane Surface(1) = {1}; Transfinite Surface{1}; Recombine Surface{1};
Curve Loop(2) = {6,5,-7,-2}; Plane Surface(2) = {2}; Transfinite Surface{2};
a[] = Extrude {0,0,1} { Surface{1}; Layers{1}; Recombine; };
b[] = Extrude {0,0,1} { Surface{2}; Layers{1}; Recombine; };
t[] = Extrude {0,0,1} { Surface{a[0]}; };
Mesh.MeshSizeMin = 2; Mesh.MeshSizeMax = 2;
Physical Volume("inner", 7) = {a[1]}; Physical Volume("outer", 9) = {b[1]}; Physical Volume("lid", 11) = {t[1]};
Physical Surface("wall", 3) = {a[5], t[5]};
Physical Surface("far", 4) = {b[3]};
Physical Surface("bottom", 5) = {1, 2};
Physical Surface("top", 6) = {b[0], t[0]};
Physical Surface("sides", 8) = {a[2], a[4], b[2], b[4], t[2], t[3], t[4]};
