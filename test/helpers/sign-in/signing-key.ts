import { execFile } from 'node:child_process';
import { createPrivateKey, type JsonWebKey, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';

/** A key of an identity provider, with a certificate that it has made itself. */
export interface SigningKey {
  /** The private key, and the certificate in `x5c`. */
  jwk: JsonWebKey & { x5c: string[] };
  /** SHA-1 of the certificate, in hexadecimal: what services that trust the provider are told. */
  thumbprint: string;
}

export async function makeSigningKey(): Promise<SigningKey> {
  const words = ['-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=identity provider of a test', '-days', '2'];
  const { stdout } = await promisify(execFile)('openssl', ['req', '-x509', ...words, '-keyout', '-', '-out', '-']);
  const certificate = new X509Certificate(stdout.slice(stdout.indexOf('-----BEGIN CERTIFICATE-----')));
  return {
    jwk: { ...createPrivateKey(stdout).export({ format: 'jwk' }), x5c: [certificate.raw.toString('base64')] },
    thumbprint: certificate.fingerprint.replaceAll(':', ''),
  };
}
