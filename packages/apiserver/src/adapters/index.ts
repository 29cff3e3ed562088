export {
  type BackedUpFile,
  type BackupCounts,
  BackupRefused,
  openBackup,
  writeBackup,
} from "./backup-file.ts";
export { type AuditLogFile, openAuditLogFile } from "./audit-log-file.ts";
export { syncFolder, writeWhole } from "./durable-files.ts";
export { type EncryptionOptions, encryptedStorage } from "./encrypted-storage.ts";
export { createKeyring, EncryptionRefused, parseKeys } from "./encryption-keys.ts";
export { createSigner, readRequest } from "./certificate-signer.ts";
export { fileProblem, makePrivateDirectory } from "./file-problem.ts";
export { DirectoryRefused } from "./lmdb-directory.ts";
export { makeStore, ownerOfStore, readStore } from "./lmdb-backup.ts";
export { isAlive, type Owner, thisProcess } from "./lmdb-owner.ts";
export { type LmdbStorageOptions, openLmdbStorage } from "./lmdb-storage.ts";
export {
  type CertifiedKey,
  commitAuthority,
  finishAuthority,
  openPki,
  type Pki,
  prepareAuthority,
} from "./pki.ts";
export { createTokenCrypto, openTokenCrypto } from "./token-crypto.ts";
export { makeCertificate } from "./pki-certificate.ts";
export {
  createTlsServer,
  type TlsMaterial,
  type TlsServer,
  type TlsServerOptions,
} from "./tls-server.ts";
export { DEFAULT_TLS_SERVER_LIMITS, type TlsServerLimits } from "./tls-server-limits.ts";
export { createOidc, type Oidc, OIDC_ALGORITHMS, type OidcOptions } from "./oidc.ts";
