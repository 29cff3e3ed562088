/**
 * How much a body may hold, beyond its size in bytes. All work on an object (decoding, defaults, validation, patches, encoding)
 * is in proportion to its values, so their number bounds the time that one body can take from every other client.
 *
 * The largest objects known, CustomResourceDefinitions of more than a megabyte, hold some 30,000 values.
 */
export const MAX_VALUES = 50_000;

/** YAML costs thirty times as much as JSON for each byte; clients of Kubernetes send JSON, people send manifests by hand. */
export const MAX_YAML_LENGTH = 256 * 1024;

/** Words, signs, spaces and line ends, as the lexer counts them: seven for a line `key: value`. */
export const MAX_YAML_TOKENS = 16_000;
