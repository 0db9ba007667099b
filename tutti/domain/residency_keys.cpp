#include "tutti/domain/held_arrays.hpp"

namespace tutti {

void add_residency_keys(CaseSchema& schema, const std::string& array) {
  schema.describe_table("residency",
                        "Where GPUs keep " + array +
                            ", which kernels read once per pass: see docs/explanation/memory.md. CPUs keep "
                            "them in memory as they are.");
  schema.add({.path = "residency.policy",
              .type = KeyType::choice,
              .default_value = "\"resident\"",
              .description = "resident: in the GPU's memory; what does not fit goes to other devices; compressed: the "
                             "same in fewer bits; streamed: what does not fit is copied from the host in each pass, "
                             "while kernels run; overlaid: between kernels, through one buffer; managed: by unified "
                             "memory; auto: resident if it fits, else the fastest, timed at the start.",
              .choices = {"resident", "compressed", "overlaid", "streamed", "managed", "auto"}});
  schema.add({.path = "residency.format",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description = "How values are stored. auto: double; with compressed int32 with a scale per group, or "
                             "zfp if a rate is given. All but double lose accuracy; the summary says how much.",
              .choices = {"auto", "double", "float", "int32", "int16", "zfp"}});
  schema.add({.path = "residency.rate",
              .type = KeyType::integer,
              .unit = "bits",
              .description = "Bits per value of zfp; 32 if it is not given.",
              .min = 4,
              .max = 64});
  schema.add({.path = "residency.tolerance",
              .type = KeyType::number,
              .default_value = "0",
              .description = "auto may take formats that lose no more than this (relative L2 norm of the array); 0: "
                             "none but double, and the same bits in each run.",
              .min = 0,
              .only_if = {"residency.policy", {"auto"}}});
}

}  // namespace tutti
