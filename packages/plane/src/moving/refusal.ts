/** Moving cannot begin or go on; the message says why and what to do. */
export class MovingRefused extends Error {
  override readonly name = "MovingRefused";
}
