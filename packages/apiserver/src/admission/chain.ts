/**
 * The admission chain: mutators in order, then (after the object's own validation) validators in order.
 *
 * Plugins that need no waiting answer at once, and then so does the chain: the common write stays synchronous from
 * reading the head to its commit, so no other write comes between.
 */
import type { AnyObject } from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

export interface AdmissionChain {
  /** The object to go on with, after all mutators. */
  mutate(
    request: AdmissionRequest & { readonly object: AnyObject },
  ): AnyObject | Promise<AnyObject>;
  /** Throws, or rejects, when a validator refuses. */
  validate(request: AdmissionRequest): void | Promise<void>;
}

type Mutator = AdmissionPlugin & Required<Pick<AdmissionPlugin, "mutate">>;
type Validator = AdmissionPlugin & Required<Pick<AdmissionPlugin, "validate">>;

export function createAdmissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const mutators = plugins.filter((plugin): plugin is Mutator => plugin.mutate !== undefined);
  const validators = plugins.filter((plugin): plugin is Validator => plugin.validate !== undefined);
  return {
    mutate: (request) => mutateFrom(mutators, 0, request),
    validate: (request) => validateFrom(validators, 0, request),
  };
}

function mutateFrom(
  mutators: readonly Mutator[],
  start: number,
  first: AdmissionRequest & { readonly object: AnyObject },
): AnyObject | Promise<AnyObject> {
  let request = first;
  for (let i = start; i < mutators.length; i++) {
    const mutator = mutators[i] as Mutator;
    if (!mutator.handles(request)) continue;
    const answer = mutator.mutate(request);
    if (answer instanceof Promise) {
      const waiting = request;
      return answer.then((object) => mutateFrom(mutators, i + 1, { ...waiting, object }));
    }
    if (answer !== request.object) request = { ...request, object: answer };
  }
  return request.object;
}

function validateFrom(
  validators: readonly Validator[],
  start: number,
  request: AdmissionRequest,
): void | Promise<void> {
  for (let i = start; i < validators.length; i++) {
    const validator = validators[i] as Validator;
    if (!validator.handles(request)) continue;
    const answer = validator.validate(request);
    if (answer instanceof Promise) {
      return answer.then(() => validateFrom(validators, i + 1, request));
    }
  }
}
