import { keyText } from '../../../config/keys/keys-in-effect.ts';
import type { Column } from '../../../presentation/shapes/column.ts';
import type { Fact } from '../../../presentation/shapes/fact.ts';
import type { Glyphs } from '../../../presentation/shapes/glyphs.ts';
import type { CheckReport, Reach, ToolReport } from '../../../results/configuration/configuration-results.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { CheckWithFixes, Fix } from '../fix.ts';

export interface CheckRow {
  id: string;
  /** The heading on the command line. */
  group: string;
  /** `null` for what was not checked or is not required. */
  state: 'good' | 'caution' | 'bad' | null;
  subject: string;
  finding: string;
  /** Details and hints. */
  more: string[];
  fix?: Fix | null;
  /** Location: a configuration key, or a line of a file that is not valid YAML. */
  at?: { key: string } | { file: string; line: number };
}

/** The results of `config check`, problems first, for the screen. */
export function checkRows({ report, fixes, encrypt, makeFolder }: CheckWithFixes): CheckRow[] {
  const needs = needRows(report).map((row) => {
    if (row.id === 'secrets') return { ...row, fix: encrypt };
    return row.id === 'working directory' ? { ...row, fix: makeFolder } : row;
  });
  return [...problemRows(report, fixes), ...needs];
}

/** Returns the rows of the requirements outside of the configuration. */
export function needRows(report: CheckReport): CheckRow[] {
  return [
    ...secretRows(report),
    ...folderRows(report),
    ...engineRows(report),
    ...dockerRows(report),
    ...sanitizeRows(report),
    keychainRow(report),
    ...storageRows(report),
    ...cloudRows(report),
  ];
}

function problemRows({ problems, file }: CheckReport, fixes: CheckWithFixes['fixes']): CheckRow[] {
  const group = 'Configuration';
  if (problems.length === 0) {
    const finding = file === null ? 'not found: tool config init writes one' : 'no problems';
    const more = file === null ? [] : [file];
    return [{ id: 'configuration', group, state: file ? 'good' : 'bad', subject: 'configuration', finding, more }];
  }
  const rows = problems.map((problem, index): CheckRow => {
    const { severity, code, key, message, hint, file: where, line, column } = problem;
    const place = where === null ? [] : [[where, line, column].filter((part) => part !== null).join(':')];
    // An invalid file has no keys to go to.
    const isText = key === '' && where !== null && line !== null && code !== 'file_readable_by_others';
    return {
      id: [code, key, message].join(' '),
      group,
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

function secretRows({ plain_secrets: keys }: CheckReport): CheckRow[] {
  const [first] = keys;
  if (first === undefined) return [];
  const finding = `${formatNumberOf(keys.length, 'secret')} in plain text; to encrypt: tool config encrypt`;
  return [
    { id: 'secrets', group: 'Secrets', state: null, subject: 'secrets', finding, more: keys, at: { key: first } },
  ];
}

function folderRows({ working_directory: folder }: CheckReport): CheckRow[] {
  if (!folder) return [];
  const { path, ok, error } = folder;
  return [
    {
      id: 'working directory',
      group: 'Working directory',
      state: ok === null ? null : ok ? 'good' : 'bad',
      subject: 'working directory',
      finding: ok ? path : ok === null ? 'does not exist yet: the first build creates it' : (error ?? 'is not usable'),
      more: ok ? [] : [path],
      at: { key: 'working_directory' },
    },
  ];
}

function engineRows({ engines }: CheckReport): CheckRow[] {
  return engines.map(({ id, ok, tools }) => ({
    id: `engine ${id}`,
    group: 'Engines',
    state: ok ? 'good' : 'caution',
    subject: id,
    finding: ok ? tools.map(({ name, version }) => `${name} ${version}`).join(', ') : 'no client programs found',
    more: ok ? toolLines(tools) : ['Install the client programs, or set docker.images.'],
    ...(ok ? {} : { at: { key: 'docker.images' } }),
  }));
}

function toolLines(tools: ToolReport[]): string[] {
  const width = Math.max(0, ...tools.map(({ name }) => name.length));
  return tools.map(({ name, version, path }) => `${name.padEnd(width)}  ${version}  ${path}`);
}

function dockerRows({ docker }: CheckReport): CheckRow[] {
  if (!docker) return [];
  const { name, error, hint, images } = docker;
  return [
    {
      id: 'docker',
      group: 'Docker',
      // Without a configured image, Docker is not needed.
      state: name !== null ? 'good' : images.length > 0 ? 'bad' : null,
      subject: 'docker',
      finding: name ?? error ?? '',
      more: hint ? [hint] : [],
    },
    ...images.map(
      ({ id, image, ok, present, error: failed, tools }): CheckRow => ({
        id: `image ${id}`,
        group: 'Docker',
        state: ok ? 'good' : 'bad',
        subject: id,
        finding: failed ?? `${image}${present ? '' : ', pulled on first use'}`,
        more: toolLines(tools),
        at: { key: 'docker.images' },
      }),
    ),
  ];
}

function sanitizeRows({ sanitizing }: CheckReport): CheckRow[] {
  return sanitizing.map(({ target, place, throw_away, error }) => ({
    id: `sanitizing ${target}`,
    group: 'Sanitizing',
    state: place === null ? 'bad' : 'good',
    subject: target,
    finding: place === null ? `cannot be sanitized: ${error}` : `${throw_away ? 'temporarily in' : 'in'} ${place}`,
    more: [],
    at: { key: `targets.${target}.sanitize` },
  }));
}

function keychainRow({ keychain: { ok, reason } }: CheckReport): CheckRow {
  return {
    id: 'keychain',
    group: 'Keychain',
    // Optional: a missing one is not a failure.
    state: ok ? 'good' : null,
    subject: 'keychain',
    finding: ok ? 'available' : `none: ${reason}`,
    more: ok ? [] : ['Not required: the secret_key is stored in the configuration file.'],
  };
}

function storageRows({ storage_profiles }: CheckReport): CheckRow[] {
  return storage_profiles.map((profile) => {
    const { name, provider, bucket, complete, ok } = profile;
    const place = [provider, bucket && `bucket ${bucket}`].filter((part) => part !== null).join(' ');
    return {
      id: `storage ${name}`,
      group: 'Storage profiles',
      state: complete ? stateOf(ok) : 'bad',
      subject: name,
      finding: complete ? reachText(profile) : 'incomplete, see above',
      more: place === '' ? [] : [place],
      at: { key: `storage_profiles.${name}` },
    };
  });
}

function cloudRows({ cloud }: CheckReport): CheckRow[] {
  if (!cloud) return [];
  const finding =
    cloud.url === null ? (cloud.error ?? 'not checked: the configuration is not valid') : reachText(cloud);
  return [{ id: 'cloud', group: 'Cloud', state: stateOf(cloud.ok), subject: 'cloud', finding, more: [] }];
}

function stateOf(ok: boolean | null): CheckRow['state'] {
  return ok === null ? null : ok ? 'good' : 'bad';
}

function reachText({ url, ok, error }: Reach): string {
  if (url === null) return error ?? 'has no address';
  if (ok === null) return `${url} was not checked (--offline)`;
  return ok ? `${url} is reachable` : `${url} is not reachable: ${error}`;
}

/** `1 error in /etc/tool.yml, local mode`; nothing where nothing is configured. */
export function checkSum({ problems, file, shadowed, mode }: CheckReport): string[] {
  if (problems.some(({ code }) => code === 'no_configuration')) return [];
  const of = (wanted: string) => problems.filter(({ severity }) => severity === wanted).length;
  const counts = (['error', 'warning'] as const).filter((severity) => of(severity) > 0);
  const text = counts.map((severity) => formatNumberOf(of(severity), severity)).join(', ');
  return [`${text || 'No problems'} in ${file ?? 'the variables'}, ${mode} mode`, ...shadowLines(shadowed)];
}

/** Two files are there, and one of them is the one that is read. */
export function shadowLines(shadowed: string | null): string[] {
  return shadowed === null ? [] : [`Not read, because this folder has a tool.yml: ${shadowed}`];
}

export function checkColumns(glyphs: Glyphs): Column<CheckRow>[] {
  return [
    {
      title: ' ',
      cell: ({ state }) => (state ? { text: glyphs[state], tone: state } : { text: glyphs.none, tone: 'dim' }),
    },
    { title: 'SUBJECT', max: 40, cell: ({ subject }) => ({ text: subject }) },
    { title: 'RESULT', grows: true, essential: true, cell: ({ finding }) => ({ text: finding, tone: 'dim' }) },
  ];
}

export function checkFacts({ finding, fix, more }: CheckRow): Fact[] {
  return [
    { name: 'Result', value: finding },
    ...(fix ? [{ name: keyText('fix'), value: fix.does, tone: 'accent' as const }] : []),
    ...more.map((value) => ({ name: '', value })),
  ];
}

/** Why a key does not fix the problem. */
export function whyNotFixed(finding: CheckRow | null): string | null {
  if (finding?.fix) return null;
  if (!finding || finding.state === 'good') return 'Nothing to fix';
  return finding.at ? `No automatic fix: press ${keyText('edit')} to edit it` : 'No automatic fix';
}
