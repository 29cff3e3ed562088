/** How a person names a workload (`deployment/web`, `-n shop`), and the binding that is meant by it. */
import {
  clusterResourceBindings,
  orNothing,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { CommandFailed, UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";

export const namespaceOption: OptionDefinition = {
  name: "namespace",
  short: "n",
  type: "text",
  commandLineOnly: true,
  value: "NAME",
  default: "default",
  help: "The namespace of the workload",
};

export interface NamedWorkload {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** Reads `KIND/NAME`; throws UsageError on anything else. */
export function parseWorkload(text: string, namespace: string): NamedWorkload {
  const [kind = "", name = "", ...more] = text.split("/");
  if (kind === "" || name === "" || more.length > 0)
    throw new UsageError(`"${text}" is not valid: KIND/NAME is needed, such as deployment/web`);
  return { kind, name, namespace };
}

/** Short names, as kubectl has them. */
const SHORT: Readonly<Record<string, string>> = {
  cj: "cronjob",
  cm: "configmap",
  crd: "customresourcedefinition",
  deploy: "deployment",
  ds: "daemonset",
  ep: "endpoints",
  hpa: "horizontalpodautoscaler",
  ing: "ingress",
  limits: "limitrange",
  netpol: "networkpolicy",
  ns: "namespace",
  pc: "priorityclass",
  pdb: "poddisruptionbudget",
  po: "pod",
  pv: "persistentvolume",
  pvc: "persistentvolumeclaim",
  quota: "resourcequota",
  rs: "replicaset",
  sa: "serviceaccount",
  sc: "storageclass",
  sts: "statefulset",
  svc: "service",
};

/**
 * The kinds in lower case that `asked` may mean, the likeliest first: as it is, a short name, a plural; with `.group` or without. Every
 * command that takes KIND/NAME reads the kind by this.
 */
export function kindsMeantBy(asked: string): ReadonlySet<string> {
  const given = (asked.split(".")[0] ?? asked).toLowerCase();
  const long = Object.hasOwn(SHORT, given) ? SHORT[given] : undefined;
  const plural = [
    ...(given.endsWith("ies") ? [given.replace(/ies$/, "y")] : []),
    ...(/(s|x|z|ch|sh)es$/.test(given) ? [given.replace(/es$/, "")] : []),
    ...(given.endsWith("s") ? [given.replace(/s$/, "")] : []),
  ];
  return new Set([...(long === undefined ? [] : [long]), given, ...plural]);
}

/** Finds the binding of a workload; throws CommandFailed when no policy claims it. */
export async function findBinding(
  plane: Client,
  { kind, name, namespace }: NamedWorkload,
): Promise<ResourceBinding> {
  for (const known of kindsMeantBy(kind)) {
    const wanted = bindingName(known, name);
    const found =
      (await orNothing(plane.get(resourceBindings, { namespace, name: wanted }))) ??
      (await orNothing(plane.get(clusterResourceBindings, { namespace: "", name: wanted })));
    if (found !== undefined) return found;
  }
  throw new CommandFailed(
    `there is no binding of ${kind} "${name}" in the namespace "${namespace}": ` +
      "no policy claims it, or it is in another namespace (-n NAME)",
  );
}
