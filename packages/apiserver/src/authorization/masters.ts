/** The group whose members may do everything, whatever is stored: the way in when roles are lost. */
import type { User } from "../authentication/user.ts";

export const MASTERS = "system:masters";

export function isMaster(user: User): boolean {
  return user.groups.includes(MASTERS);
}
