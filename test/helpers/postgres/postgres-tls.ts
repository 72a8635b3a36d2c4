import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestPostgres } from './postgres-server.ts';

export interface Certificate {
  certificate: string;
  key: string;
}

const openssl = (words: string[]): Promise<unknown> => promisify(execFile)('openssl', words);

/** An authority of certificates, whose files are in the folder. */
export async function makeAuthority(folder: string): Promise<Certificate> {
  await mkdir(folder, { recursive: true });
  const files = { certificate: join(folder, 'root.crt'), key: join(folder, 'root.key') };
  const words = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await openssl(['req', ...words, '-subj', '/CN=test authority', '-keyout', files.key, '-out', files.certificate]);
  return files;
}

export interface Signed {
  name: string;
  subject: string;
  /** `subjectAltName`, such as `DNS:localhost,IP:127.0.0.1`. */
  names?: string;
  expired?: boolean;
}

/** A certificate that the authority has signed, beside its own files. */
export async function sign(authority: Certificate, { name, subject, names, expired }: Signed): Promise<Certificate> {
  const of = (extension: string): string => join(authority.certificate, '..', `${name}.${extension}`);
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', of('key')];
  await openssl(['req', ...key, '-subj', subject, '-out', of('csr')]);
  await writeFile(of('ext'), names ? `subjectAltName=${names}\n` : '');
  const by = ['-CA', authority.certificate, '-CAkey', authority.key, '-CAcreateserial', '-extfile', of('ext')];
  await openssl(['x509', '-req', '-in', of('csr'), ...by, '-days', expired ? '-1' : '2', '-out', of('crt')]);
  await chmod(of('key'), 0o600);
  return { certificate: of('crt'), key: of('key') };
}

/** Has the server speak TLS with the certificate; with an authority for those of its clients. */
export async function speakTls(
  server: Pick<TestPostgres, 'psql'>,
  { certificate, key }: Certificate,
  clients?: Certificate,
): Promise<void> {
  const data = (await server.psql('postgres', { sql: 'SHOW data_directory' })).trim();
  const { uid, gid } = await stat(data);
  const files = {
    'server.crt': certificate,
    'server.key': key,
    ...(clients && { 'clients.crt': clients.certificate }),
  };
  for (const [name, from] of Object.entries(files)) {
    const path = join(data, name);
    await writeFile(path, await readFile(from), { mode: 0o600 });
    await chown(path, uid, gid);
  }
  if (clients) await server.psql('postgres', { sql: `ALTER SYSTEM SET ssl_ca_file = 'clients.crt'` });
  await server.psql('postgres', { sql: 'ALTER SYSTEM SET ssl = on' });
  await server.psql('postgres', { sql: 'SELECT pg_reload_conf()' });
}
