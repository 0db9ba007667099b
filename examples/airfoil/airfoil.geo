// An airfoil NACA 0012 of chord 1 in a stream: one layer of hexahedra, curved where they meet the wall.
//   gmsh -3 -order 2 -format msh22 airfoil.geo -o airfoil.msh
SetFactory("Built-in");
far = 15;
edges = 12;   // on each side of the airfoil
points = 40;  // that splines go through, on each side

// Upper side from the trailing edge (point 1) to the leading edge, then the lower side back.
For k In {0:2 * points - 1}
  angle = Pi * k / points;
  x = 0.5 * (1 + Cos(angle));
  y = 0.6 * (0.2969 * Sqrt(x) - 0.1260 * x - 0.3516 * x^2 + 0.2843 * x^3 - 0.1036 * x^4);
  If (k == 0)
    y = 0;
  EndIf
  If (k > points)
    y = -y;
  EndIf
  Point(1 + k) = {x, y, 0};
EndFor
Spline(1) = {1:points + 1};
Spline(2) = {points + 1:2 * points, 1};
Transfinite Curve {1, 2} = edges + 1 Using Bump 0.3;

Point(201) = {-far, -far, 0};
Point(202) = {far, -far, 0};
Point(203) = {far, far, 0};
Point(204) = {-far, far, 0};
Line(11) = {201, 202};
Line(12) = {202, 203};
Line(13) = {203, 204};
Line(14) = {204, 201};
Curve Loop(1) = {11, 12, 13, 14};
Curve Loop(2) = {1, 2};
Plane Surface(1) = {1, 2};

// Cells grow away from the wall, slowly along the wake.
Field[1] = Distance;
Field[1].CurvesList = {1, 2};
Field[1].NumPointsPerCurve = 200;
Field[2] = MathEval;
Field[2].F = "0.07 + 0.35 * F1";
Field[3] = MathEval;
Field[3].F = "0.14 + 0.12 * Fabs(x - 1) + 0.8 * Max(Fabs(y - 0.17 * (x - 1)) - 0.3, 0) + 3 * Max(1 - x, 0)";
Field[4] = Min;
Field[4].FieldsList = {2, 3};
Background Field = 4;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.Algorithm = 6;
Mesh.RecombinationAlgorithm = 1;
Recombine Surface {1};

slab[] = Extrude {0, 0, 0.5} { Surface {1}; Layers {1}; Recombine; };
Physical Volume("gas") = {slab[1]};
Physical Surface("far") = {slab[2], slab[3], slab[4], slab[5]};
Physical Surface("airfoil") = {slab[6], slab[7]};
Physical Surface("sides") = {1, slab[0]};
