/** Passkeys: made once with the code of a pairing link, and signed with from then on. At the page's public address alone. */
import { api, data } from "@/api/client";

/** Whether this is the page as it is reached from outside: on Stead's own computer there is no TLS. */
export const isOutside = () => location.protocol === "https:";

interface Creation {
  rp: PublicKeyCredentialRpEntity;
  user: { id: string; name: string; displayName: string };
  challenge: string;
  pubKeyCredParams: PublicKeyCredentialParameters[];
  timeout: number;
  attestation: AttestationConveyancePreference;
  authenticatorSelection: AuthenticatorSelectionCriteria;
}

interface Request {
  challenge: string;
  rpId: string;
  timeout: number;
  userVerification: UserVerificationRequirement;
}

/** Make this browser's passkey; gives the name of the device. */
export async function makePasskey(code: string): Promise<string> {
  const { options } = await data(api.POST("/remote/pair", { body: { code } }));
  const { rp, user, challenge, pubKeyCredParams, timeout, attestation, authenticatorSelection }: Creation =
    JSON.parse(options);
  const publicKey = {
    ...{ rp, pubKeyCredParams, timeout, attestation, authenticatorSelection },
    user: { ...user, id: bytes(user.id) },
    challenge: bytes(challenge),
  };
  const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
  const { attestationObject } = made.response as AuthenticatorAttestationResponse;
  const credential = shown(made, { attestationObject });
  return (await data(api.POST("/remote/pair/finish", { body: { code, credential } }))).name;
}

/** Sign in by this browser's passkey. */
export async function signInByPasskey(): Promise<void> {
  const { options } = await data(api.POST("/remote/challenge", { body: {} }));
  const { challenge, rpId, timeout, userVerification }: Request = JSON.parse(options);
  const publicKey = { challenge: bytes(challenge), rpId, timeout, userVerification };
  const signed = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
  const { authenticatorData, signature } = signed.response as AuthenticatorAssertionResponse;
  const credential = shown(signed, { authenticatorData, signature });
  await data(api.POST("/remote/sign-in", { body: { credential } }));
}

/** The JSON that browsers of before 2025 do not write themselves. */
function shown({ id, rawId, type, response }: PublicKeyCredential, parts: Record<string, ArrayBuffer>): string {
  const all = { clientDataJSON: response.clientDataJSON, ...parts };
  const encoded = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, text(value)]));
  return JSON.stringify({ id, rawId: text(rawId), type, response: encoded, clientExtensionResults: {} });
}

function bytes(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}

function text(buffer: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
