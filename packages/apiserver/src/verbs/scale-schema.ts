/** The schema of autoscaling/v1 Scale, which is served below other resources and never by itself. */
import { assert } from "@lifeboat/base";
import { builtinSchema, type KindSchema } from "@lifeboat/api";

export function scaleSchema(): KindSchema {
  const schema = builtinSchema("autoscaling/v1", "Scale");
  assert(schema !== undefined, "Scale is described");
  return schema;
}
