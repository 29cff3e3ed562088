/** Moving cannot begin or go on; the message states why and what to do. */
export class MovingRefused extends Error {
  override readonly name = "MovingRefused";
}
