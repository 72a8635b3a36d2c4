import type { CheckReport } from '../../src/operations/check.ts';
import type { Reach } from '../../src/operations/reach.ts';

/** A thing that was looked at. */
export interface DoctorRow {
  id: string;
  /** `null` for what is neither good nor bad, such as what was not asked. */
  state: 'good' | 'caution' | 'bad' | null;
  subject: string;
  finding: string;
  /** What to do about it, or more about it. */
  more: string[];
}

/** All that `config check` finds: what is wrong first. */
export function doctorRows(report: CheckReport): DoctorRow[] {
  return [
    ...problemRows(report),
    ...engineRows(report),
    ...dockerRows(report),
    ...storageRows(report),
    ...rest(report),
  ];
}

function problemRows({ problems, file }: CheckReport): DoctorRow[] {
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
  return problems.map(({ severity, key, message, hint, file: at, line, column }, index) => ({
    id: `problem ${index}`,
    state: severity === 'error' ? 'bad' : 'caution',
    subject: key === '' ? 'configuration' : key,
    finding: message,
    more: [
      ...(at === null ? [] : [[at, line, column].filter((part) => part !== null).join(':')]),
      ...(hint ? [hint] : []),
    ],
  }));
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
  }));
}

function dockerRows({ docker }: CheckReport): DoctorRow[] {
  if (!docker) return [];
  const { name, error, hint, images } = docker;
  return [
    {
      id: 'docker',
      state: name === null ? 'bad' : 'good',
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
      }),
    ),
  ];
}

function storageRows({ storage_profiles }: CheckReport): DoctorRow[] {
  return storage_profiles.map(({ name, provider, bucket, complete, ok, url, error }) => ({
    id: `storage ${name}`,
    state: complete ? (ok === null ? null : ok ? 'good' : 'bad') : 'bad',
    subject: name,
    finding: complete ? reached({ ok, url, error }) : 'is not complete',
    more: [[provider, bucket].filter((part) => part !== null).join(', ')],
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
