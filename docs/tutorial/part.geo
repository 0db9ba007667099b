SetFactory("OpenCASCADE");
// A steel plate of 4 x 2 x 0.4 cm with a copper rod of radius 0.4 cm through it.
Box(1) = {0, 0, 0, 4, 2, 0.4};
Cylinder(2) = {2, 1, -0.6, 0, 0, 1.6, 0.4};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }

e = 0.001;
rod[] = Volume In BoundingBox{1.6 - e, 0.6 - e, -0.6 - e, 2.4 + e, 1.4 + e, 1 + e};
all[] = Volume{:};
plate[] = all[];
plate[] -= rod[];
Physical Volume("plate") = {plate[]};
Physical Volume("rod") = {rod[]};
Physical Surface("hot") = {Surface In BoundingBox{1.6 - e, 0.6 - e, -0.6 - e, 2.4 + e, 1.4 + e, -0.6 + e}};
Physical Surface("cold") = {Surface In BoundingBox{-e, -e, -e, e, 2 + e, 0.4 + e}};

Mesh.MeshSizeMin = 0.08;
Mesh.MeshSizeMax = 0.08;
