// Betweenness by LAGraph's batch method, called by graphs_peer.py through ctypes: graph_new, then graph_betweenness.
#include <LAGraph.h>
#include <stdio.h>
#include <stdlib.h>

static LAGraph_Graph graph;
static char message[LAGRAPH_MSG_LEN];

static void need(int status, const char *what) {
  if (status >= 0) return;
  fprintf(stderr, "lagraph.c: %s: code %d, %s\n", what, status, message);
  exit(3);
}

// Arcs in any order, none twice; where the graph is undirected, in both directions.
void graph_new(uint64_t vertices, int directed, uint64_t arcs, const uint64_t *from, const uint64_t *to) {
  need(LAGraph_Init(message), "LAGraph_Init");
  GrB_Matrix matrix;
  GrB_Scalar one;
  need(GrB_Matrix_new(&matrix, GrB_BOOL, vertices, vertices), "GrB_Matrix_new");
  need(GrB_Scalar_new(&one, GrB_BOOL), "GrB_Scalar_new");
  need(GrB_Scalar_setElement(one, true), "GrB_Scalar_setElement");
  need(GxB_Matrix_build_Scalar(matrix, from, to, one, arcs), "GxB_Matrix_build_Scalar");
  GrB_free(&one);
  need(LAGraph_New(&graph, &matrix, directed ? LAGraph_ADJACENCY_DIRECTED : LAGraph_ADJACENCY_UNDIRECTED, message), "LAGraph_New");
  if (directed) need(LAGraph_Cached_AT(graph, message), "LAGraph_Cached_AT");
}

// Adds to sums, one a vertex, what LAGraph finds for `batch` sources at once.
void graph_betweenness(uint64_t count, const uint64_t *sources, uint64_t batch, double *sums) {
  for (uint64_t first = 0; first < count; first += batch) {
    const uint64_t here = count - first < batch ? count - first : batch;
    GrB_Vector values;
    need(LAGr_Betweenness(&values, graph, sources + first, (int32_t)here, message), "LAGr_Betweenness");
    GrB_Index size;
    need(GrB_Vector_size(&size, values), "GrB_Vector_size");
    for (GrB_Index v = 0; v < size; ++v) {
      double value = 0;
      need(GrB_Vector_extractElement_FP64(&value, values, v), "GrB_Vector_extractElement");
      sums[v] += value;
    }
    GrB_free(&values);
  }
}
