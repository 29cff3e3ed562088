/** How people name objects: `deployment web api`, or `deployment/web`. */
import { UsageError } from "./failure.ts";

export interface NamedObjects {
  readonly kind: string;
  readonly names: readonly string[];
}

/** `deployment/web` means what `deployment web` means. */
export function namedObjects(asked: string, names: readonly string[]): NamedObjects {
  const [kind = "", name, ...rest] = asked.split("/");
  if (name === undefined) return { kind: asked, names };
  if (rest.length > 0 || name === "" || kind === "" || names.length > 0)
    throw new UsageError(`"${asked}" is not valid: KIND, KIND NAME… or KIND/NAME is needed`);
  return { kind, names: [name] };
}
