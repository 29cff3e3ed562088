/** The pictures of docs/pictures/captures, by their names. */
import { playAll } from "./incident.ts";
import { pictureOf } from "./picture.ts";

export async function capturePictures(): Promise<ReadonlyMap<string, string>> {
  const captures = await playAll();
  return new Map(captures.map((capture) => [`${capture.name}.svg`, pictureOf(capture)]));
}
