/**
 * Dialling with a judge: the address is judged between resolving the name and connecting to it, so that the address that was judged
 * is the one that is dialled.
 */
import { lookup as resolve, type LookupAddress, type LookupAllOptions } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { JudgeAddress } from "../dialled-addresses.ts";

/** An address that is not dialled; nothing was sent. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  readonly code = "ADDRESSREFUSED";
}

/** What `net.connect` needs beside host and port; throws `AddressRefused` for an address that is refused as it stands. */
export function judgedDial(
  host: string,
  judge: JudgeAddress | undefined,
): { readonly lookup?: LookupFunction } {
  if (judge === undefined) return {};
  // Node resolves names alone: an address goes past the lookup.
  if (isIP(host) !== 0) {
    const problem = judge(host);
    if (problem !== undefined) throw new AddressRefused(`the address ${host} ${problem}`);
  }
  return { lookup: judgedLookup(judge) };
}

type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A lookup that answers only addresses that may be dialled. */
export function judgedLookup(judge: JudgeAddress, resolveName: Resolve = resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const allowed = found.filter(({ address }) => judge(address) === undefined);
      const [first] = allowed;
      if (first === undefined) {
        const address = found[0]?.address ?? "";
        const problem = found.length === 0 ? "does not exist" : judge(address);
        const which = found.length === 0 ? "" : `, the address of ${hostname},`;
        callback(new AddressRefused(`${address || hostname}${which} ${problem}`), []);
      } else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
