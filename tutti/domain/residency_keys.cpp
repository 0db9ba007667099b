#include "tutti/domain/held_arrays.hpp"

namespace tutti {

void add_residency_keys(CaseSchema& schema, const std::string& array) {
  schema.describe_table("residency",
                        "Where GPUs keep " + array +
                            ". Kernels read this array once per pass; see docs/explanation/memory.md. CPUs keep it in "
                            "memory as it is.");
  schema.add({.path = "residency.policy",
              .type = KeyType::choice,
              .default_value = "\"resident\"",
              .description = "resident: all in the GPU's memory; what does not fit goes to other devices. compressed: "
                             "as resident, with fewer bits per value. streamed: what does not fit stays on the host "
                             "and is copied in each pass while kernels run, through two buffers. overlaid: as "
                             "streamed, but through one buffer, so that kernels wait for copies. managed: as streamed, "
                             "but by unified memory. auto: resident if all fits, else the fastest policy in a timing "
                             "at the start.",
              .choices = {"resident", "compressed", "overlaid", "streamed", "managed", "auto"}});
  schema.add({.path = "residency.format",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description = "How values are stored. auto: double; for the policy compressed, int32 with one scale per "
                             "group of values, or zfp if `rate` is given. All but double lose accuracy; the summary "
                             "says how much.",
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
              .description = "Largest loss (relative L2 norm of the array) that the policy auto accepts; 0: only "
                             "double, so that each run gives the same bits.",
              .min = 0,
              .only_if = {"residency.policy", {"auto"}}});
}

}  // namespace tutti
