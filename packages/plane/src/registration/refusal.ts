/** Registration could not be carried out; the message states what is wrong and what to do. */
export class RegistrationRefused extends Error {
  override readonly name = "RegistrationRefused";
}
