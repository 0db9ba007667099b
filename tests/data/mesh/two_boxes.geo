// Two boxes side by side; the left one is half the volume of the right one. Makes the two_boxes_*.msh files:
//   gmsh -3 -nt 1 two_boxes.geo -format msh41 [-bin] -o two_boxes_v41_ascii.msh   (and msh22)
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Box(2) = {1, 0, 0, 2, 1, 1};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }
Physical Volume("left side", 7) = {1};
Physical Volume("right", 3) = {2};
Physical Surface("inlet", 11) = Surface In BoundingBox {-0.01, -0.01, -0.01, 0.01, 1.01, 1.01};
Physical Surface("outlet", 12) = Surface In BoundingBox {2.99, -0.01, -0.01, 3.01, 1.01, 1.01};
Physical Surface("interface", 13) = Surface In BoundingBox {0.99, -0.01, -0.01, 1.01, 1.01, 1.01};
Physical Curve("a curve", 20) = {1};
Mesh.CharacteristicLengthMin = 0.5;
Mesh.CharacteristicLengthMax = 0.5;
