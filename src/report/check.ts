import { cellWidth } from '../cells.ts';
import type { Problem } from '../config/configuration.ts';
import { excerpt } from '../config/excerpt.ts';
import { placeOf } from '../config/invalid-configuration.ts';
import type { CheckReport, EngineState } from '../operations/check.ts';
import type { Reach } from '../operations/reach.ts';
import type { ImageReport } from '../operations/report-docker.ts';
import type { Style } from './style.ts';

export interface CheckView {
  /** What the file says, for excerpts. */
  text: string;
  style: Style;
}

/** Every problem with its excerpt, then what the configuration needs to work, then the sum where there was anything to count in. */
export function checkText(report: CheckReport, view: CheckView): string {
  const { file, shadowed, mode, problems, engines } = report;
  const { style } = view;
  const sum = `${countText(problems)} in ${file ?? 'the variables'}, ${mode} mode`;
  const isConfigured = problems.every(({ code }) => code !== 'no_configuration');
  return [
    ...problems.map((problem) => problemText(problem, view)),
    ['Engines', ...engines.flatMap((engine) => engineText(engine, style))],
    ...dockerText(report, style),
    ['Keychain', stateLine({ ok: report.keychain.ok || null }, { text: keychainText(report.keychain), style })],
    ...storageText(report, style),
    ...cloudText(report, style),
    ...(isConfigured ? [[sum, ...shadowLines(shadowed)]] : []),
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function stateLine({ ok }: { ok: boolean | null }, { text, style }: { text: string; style: Style }): string {
  const { paint, marks } = style;
  const mark = ok === null ? ' ' : ok ? paint('good', marks.done) : paint('bad', marks.failed);
  return `  ${mark} ${text}`;
}

/** Nobody needs one, so none is no failure. */
function keychainText({ ok, reason }: CheckReport['keychain']): string {
  return ok ? 'answers' : `none: ${reason}`;
}

function dockerText({ docker }: CheckReport, style: Style): string[][] {
  if (docker === null) return [];
  const { ok, name, error, hint, images } = docker;
  const text = name ?? [error, hint].filter((part) => part !== null).join(': ');
  const states = images.flatMap((image) => [
    stateLine(image, { text: `${image.id}  ${image.image}  ${imageText(image)}`, style }),
    ...image.tools.map((tool) => `      ${tool.name}  ${tool.version}  ${tool.path}`),
  ]);
  return [['Docker', stateLine({ ok: ok || name !== null }, { text, style }), ...states]];
}

function imageText({ present, error }: ImageReport): string {
  if (error !== null) return error;
  return present ? 'is here' : 'is pulled when it is needed';
}

function storageText({ storage_profiles }: CheckReport, style: Style): string[][] {
  if (storage_profiles.length === 0) return [];
  const width = Math.max(...storage_profiles.map(({ name }) => cellWidth(name)));
  const lines = storage_profiles.map((profile) => {
    const name = profile.name + ' '.repeat(width - cellWidth(profile.name));
    return stateLine(profile, {
      text: `${name}  ${profile.provider} bucket ${profile.bucket}  ${reachText(profile)}`,
      style,
    });
  });
  return [['Storage profiles', ...lines]];
}

function cloudText({ cloud }: CheckReport, style: Style): string[][] {
  return cloud === null ? [] : [['Cloud', stateLine(cloud, { text: reachText(cloud), style })]];
}

function reachText({ url, ok, error }: Reach): string {
  if (url === null) return error ?? '';
  if (ok === null) return `${url} was not asked (--offline)`;
  return ok ? `${url} answers` : `${url} cannot be reached: ${error}`;
}

/** Two files are there, and one of them is the one that is read. */
export function shadowLines(shadowed: string | null): string[] {
  return shadowed === null ? [] : [`Not read, since there is a tool.yml in this folder: ${shadowed}`];
}

export function problemText(problem: Problem, { text, style }: CheckView): string[] {
  const { severity, message, hint } = problem;
  const place = placeOf(problem);
  return [
    `${style.paint(severity === 'error' ? 'bad' : 'caution', `${severity}:`)} ${message}`,
    ...(place ? [`  at ${place}`] : []),
    ...excerpt(text, problem).map((line) => style.paint('dim', line)),
    ...(hint ? [`  ${style.paint('accent', 'hint:')} ${hint}`] : []),
  ];
}

function engineText({ id, ok, tools }: EngineState, { paint, marks }: Style): string[] {
  if (!ok) return [`  ${paint('bad', marks.failed)} ${id}: no client programs found`];
  const width = Math.max(...tools.map(({ name }) => name.length));
  return [
    `  ${paint('good', marks.done)} ${id}`,
    ...tools.map(({ name, version, path }) => `      ${name.padEnd(width)}  ${version}  ${path}`),
  ];
}

function countText(problems: Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [counted(errors, 'error'), counted(warnings, 'warning')].filter((text) => text !== '');
  return counts.length === 0 ? 'No problems' : counts.join(', ');
}

function counted(count: number, noun: string): string {
  if (count === 0) return '';
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
