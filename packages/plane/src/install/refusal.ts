/** Installing or uninstalling cannot go on; the message states why and what to do. */
export class InstallRefused extends Error {
  override readonly name = "InstallRefused";
}
