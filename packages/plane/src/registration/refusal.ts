/** Registration could not be carried out; the message says what is wrong and what to do. */
export class RegistrationRefused extends Error {
  override readonly name = "RegistrationRefused";
}
