import type { CheckReport } from '../../src/operations/configuration/check.ts';
import type { Diagnosis, Fix } from '../../src/operations/configuration/fix.ts';
import type { Reach } from '../../src/operations/configuration/reach.ts';
import { formatNumberOf } from '../../src/text/format.ts';

/** The result of one check. */
export interface DoctorRow {
  id: string;
  /** `null` for what was not checked. */
  state: 'good' | 'caution' | 'bad' | null;
  subject: string;
  finding: string;
  /** Details and hints. */
  more: string[];
  fix?: Fix | null;
  /** Location: a configuration key, or a line of a file that is not valid YAML. */
  at?: { key: string } | { file: string; line: number };
}

/** The results of `config check`, problems first. */
export function doctorRows(diagnosis: Diagnosis): DoctorRow[] {
  const { report } = diagnosis;
  return [
    ...problemRows(diagnosis),
    ...secretRows(diagnosis),
    ...folderRows(diagnosis),
    ...engineRows(report),
    ...dockerRows(report),
    ...sanitizeRows(report),
    ...storageRows(report),
    ...rest(report),
  ];
}

function problemRows({ report: { problems, file }, fixes }: Diagnosis): DoctorRow[] {
  if (problems.length === 0) {
    const finding = file === null ? 'there is no configuration: tool config init writes one' : 'no problem was found';
    return [
      {
        id: 'configuration',
        state: file ? 'good' : 'bad',
        subject: 'configuration',
        finding,
        more: file ? [file] : [],
      },
    ];
  }
  const rows = problems.map((problem, index): DoctorRow => {
    const { severity, code, key, message, hint, file: where, line, column } = problem;
    const place = where === null ? [] : [[where, line, column].filter((part) => part !== null).join(':')];
    // An invalid file has no keys to go to.
    const isText = key === '' && where !== null && line !== null && code !== 'file_readable_by_others';
    return {
      id: [code, key, message].join(' '),
      state: severity === 'error' ? 'bad' : 'caution',
      subject: key === '' ? 'configuration' : key,
      finding: message,
      more: [...place, ...(hint ? [hint] : [])],
      fix: fixes[index] ?? null,
      ...(isText ? { at: { file: where, line } } : where === null ? {} : { at: { key } }),
    };
  });
  return rows.toSorted((a, b) => Number(b.state === 'bad') - Number(a.state === 'bad'));
}

function secretRows({ report: { plain_secrets: keys }, encrypt }: Diagnosis): DoctorRow[] {
  const [first] = keys;
  if (first === undefined) return [];
  const finding = `${formatNumberOf(keys.length, 'secret')} in plain in the file`;
  return [{ id: 'secrets', state: null, subject: 'secrets', finding, more: keys, fix: encrypt, at: { key: first } }];
}

function folderRows({ report: { working_directory: folder }, makeFolder }: Diagnosis): DoctorRow[] {
  if (!folder) return [];
  const { path, ok, error } = folder;
  const finding = ok ? path : ok === null ? 'is not there yet: the first build makes it' : (error ?? 'cannot be used');
  return [
    {
      id: 'working directory',
      state: ok === null ? null : ok ? 'good' : 'bad',
      subject: 'working directory',
      finding,
      more: ok ? ['Where the snapshots of this machine are.'] : [path],
      fix: makeFolder,
      at: { key: 'working_directory' },
    },
  ];
}

function engineRows({ engines }: CheckReport): DoctorRow[] {
  return engines.map(({ id, ok, tools }) => ({
    id: `engine ${id}`,
    state: ok ? 'good' : 'caution',
    subject: id,
    finding: ok ? tools.map(({ name, version }) => `${name} ${version}`).join(', ') : 'no client programs found',
    more: ok
      ? tools.map(({ name, path }) => `${name}: ${path}`)
      : ['Install its client programs, or name an image below docker.images.'],
    ...(ok ? {} : { at: { key: 'docker.images' } }),
  }));
}

function dockerRows({ docker }: CheckReport): DoctorRow[] {
  if (!docker) return [];
  const { name, error, hint, images } = docker;
  return [
    {
      id: 'docker',
      // Without a configured image, Docker is not needed.
      state: name !== null ? 'good' : images.length > 0 ? 'bad' : null,
      subject: 'docker',
      finding: name ?? error ?? '',
      more: hint ? [hint] : [],
    },
    ...images.map(
      ({ id, image, ok, present, error: failed }): DoctorRow => ({
        id: `image ${id}`,
        state: ok ? 'good' : 'bad',
        subject: id,
        finding: failed ?? (present ? `${image} is here` : `${image} is pulled when it is needed`),
        more: [],
        at: { key: 'docker.images' },
      }),
    ),
  ];
}

function sanitizeRows({ sanitizing }: CheckReport): DoctorRow[] {
  return sanitizing.map(({ target, place, throw_away, error }) => ({
    id: `sanitizing ${target}`,
    state: place === null ? 'bad' : 'good',
    subject: target,
    finding: place === null ? `cannot be sanitized: ${error}` : `is sanitized ${throw_away ? 'in' : 'into'} ${place}`,
    more: [],
    at: { key: `targets.${target}.sanitize` },
  }));
}

function storageRows({ storage_profiles }: CheckReport): DoctorRow[] {
  return storage_profiles.map(({ name, provider, bucket, complete, ok, url, error }) => ({
    id: `storage ${name}`,
    state: complete ? (ok === null ? null : ok ? 'good' : 'bad') : 'bad',
    subject: name,
    finding: complete ? reached({ ok, url, error }) : 'is not complete',
    more: [[provider, bucket].filter((part) => part !== null).join(', ')],
    at: { key: `storage_profiles.${name}` },
  }));
}

function rest({ keychain, cloud }: CheckReport): DoctorRow[] {
  return [
    {
      id: 'keychain',
      state: keychain.ok ? 'good' : null,
      subject: 'keychain',
      finding: keychain.ok ? 'answers' : `none: ${keychain.reason}`,
      more: keychain.ok ? [] : ['Nobody needs one: the secret_key is in the file, which only you may read.'],
    },
    ...(cloud ? [cloudRow(cloud)] : []),
  ];
}

function cloudRow(cloud: Reach): DoctorRow {
  return { id: 'cloud', state: cloud.ok ? 'good' : 'bad', subject: 'cloud', finding: reached(cloud), more: [] };
}

function reached({ url, ok, error }: Reach): string {
  if (url === null) return error ?? 'has no address that can be asked';
  if (ok === null) return `${url} was not asked`;
  return ok ? `${url} answers` : `${url} cannot be reached: ${error}`;
}
