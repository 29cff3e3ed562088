/**
 * Image references, taken apart and put together: `registry/repository:tag@digest`.
 *
 * 1. What is taken apart and not changed comes out as it was.
 * 2. The first part is a registry when it has a dot or a port, or is `localhost`; nothing is added for images without.
 */
export interface Image {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

export type ImageComponent = "Registry" | "Repository" | "Tag";
export type Operator = "add" | "remove" | "replace";

export function parseImage(text: string): Image {
  const at = text.indexOf("@");
  const name = at < 0 ? text : text.slice(0, at);
  const digest = at < 0 ? "" : text.slice(at + 1);
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  const registry = isRegistry(first) ? first : "";
  const rest = registry === "" ? name : name.slice(slash + 1);
  const colon = rest.lastIndexOf(":");
  if (colon < 0 || colon < rest.lastIndexOf("/"))
    return { registry, repository: rest, tag: "", digest };
  return { registry, repository: rest.slice(0, colon), tag: rest.slice(colon + 1), digest };
}

export function formatImage(image: Image): string {
  const registry = image.registry === "" ? "" : `${image.registry}/`;
  const tag = image.tag === "" ? "" : `:${image.tag}`;
  const digest = image.digest === "" ? "" : `@${image.digest}`;
  return registry + image.repository + tag + digest;
}

/** The image with one component added to (its end), replaced or removed. */
export function overrideImage(
  image: Image,
  component: ImageComponent,
  operator: Operator,
  value: string,
): Image {
  switch (component) {
    case "Registry":
      return { ...image, registry: overrideText(image.registry, operator, value) };
    case "Repository":
      return { ...image, repository: overrideText(image.repository, operator, value) };
    case "Tag":
      return withTagOrDigest(image, overrideText(image.tag || image.digest, operator, value));
  }
}

function overrideText(text: string, operator: Operator, value: string): string {
  if (operator === "remove") return "";
  return operator === "add" ? text + value : value;
}

/** Only digests hold a colon. A digest pins what the tag no longer names, so one of the two goes. */
function withTagOrDigest(image: Image, text: string): Image {
  return text.includes(":")
    ? { ...image, tag: "", digest: text }
    : { ...image, tag: text, digest: "" };
}

function isRegistry(part: string): boolean {
  return part.includes(".") || part.includes(":") || part === "localhost";
}
