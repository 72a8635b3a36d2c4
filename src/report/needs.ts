import type { ToolReport } from '../engines/engine.ts';
import type { CheckReport, EngineState } from '../operations/configuration/check.ts';
import type { Reach } from '../operations/configuration/reach.ts';
import type { StorageState } from '../operations/configuration/reach-storage.ts';
import type { DockerReport, ImageReport } from '../operations/configuration/report-docker.ts';
import type { SanitizePlaceReport } from '../operations/configuration/report-sanitize.ts';
import type { WorkingDirectoryReport } from '../operations/configuration/report-working-directory.ts';
import { cellWidth } from '../text/text-width.ts';
import type { Style } from './style.ts';

/** What a configuration needs outside of itself, and whether it is there: a paragraph for each kind of thing. */
export function needsText(report: CheckReport, style: Style): string[][] {
  const {
    working_directory: folder,
    engines,
    docker,
    sanitizing,
    keychain,
    storage_profiles: profiles,
    cloud,
  } = report;
  const width = Math.max(...profiles.map(({ name }) => cellWidth(name)));
  return [
    ...(report.plain_secrets.length > 0 ? [['Secrets', line(null, plainText(report.plain_secrets), style)]] : []),
    ...(folder ? [['Working directory', line(folder.ok, folderText(folder), style)]] : []),
    ['Engines', ...engines.flatMap((engine) => engineText(engine, style))],
    ...(docker ? [['Docker', ...dockerText(docker, style)]] : []),
    ...(sanitizing.length > 0 ? [['Sanitizing', ...sanitizing.map((one) => sanitizeLine(one, style))]] : []),
    // Nobody needs one, so none is no failure.
    ['Keychain', line(keychain.ok || null, keychain.ok ? 'answers' : `none: ${keychain.reason}`, style)],
    ...(profiles.length > 0
      ? [['Storage profiles', ...profiles.map((one) => storageLine(one, { width, style }))]]
      : []),
    ...(cloud ? [['Cloud', line(cloud.ok, cloudText(cloud), style)]] : []),
  ];
}

/** Nothing is wrong with them in a file that only its owner may read. */
function plainText(keys: string[]): string {
  const shown = keys.length > 3 ? `${keys.slice(0, 3).join(', ')} and ${keys.length - 3} more` : keys.join(', ');
  return `in plain: ${shown}; tool config encrypt encrypts them where they stand`;
}

function folderText({ path, ok, error }: WorkingDirectoryReport): string {
  if (ok) return path;
  return ok === null ? `${path} is not there yet: the first build makes it` : `${path} ${error ?? 'cannot be used'}`;
}

function engineText({ id, ok, tools }: EngineState, style: Style): string[] {
  if (!ok) return [line(false, `${id}: no client programs found`, style)];
  return [line(true, id, style), ...toolLines(tools)];
}

function toolLines(tools: ToolReport[]): string[] {
  const width = Math.max(...tools.map(({ name }) => name.length));
  return tools.map(({ name, version, path }) => `      ${name.padEnd(width)}  ${version}  ${path}`);
}

function dockerText({ name, error, hint, images }: DockerReport, style: Style): string[] {
  if (name === null) {
    return [line(false, error ?? '', style), ...(hint === null ? [] : [`      ${hint}`])];
  }
  const lines = images.flatMap((image) => [line(image.ok, imageText(image), style), ...toolLines(image.tools)]);
  return [line(true, images.length > 0 ? name : `${name}; docker.images names no image`, style), ...lines];
}

function imageText({ id, image, present, error }: ImageReport): string {
  return `${id}  ${image}  ${error ?? (present ? 'is here' : 'is pulled when it is needed')}`;
}

function sanitizeLine({ target, place, throw_away, error }: SanitizePlaceReport, style: Style): string {
  if (place === null) return line(false, `${target}: ${error}`, style);
  return line(true, `${target} is sanitized ${throw_away ? `in ${place}` : `into ${place}`}`, style);
}

function storageLine(state: StorageState, { width, style }: { width: number; style: Style }): string {
  const { name, provider, bucket, complete, ok } = state;
  const place = [provider, bucket && `bucket ${bucket}`].filter((part) => part !== null).join(' ');
  const text = complete ? reachText(state) : 'is not complete, see above';
  const padding = ' '.repeat(width - cellWidth(name));
  return line(
    complete ? ok : false,
    [`${name}${padding}`, place, text].filter((part) => part !== '').join('  '),
    style,
  );
}

function cloudText(cloud: Reach): string {
  if (cloud.url !== null) return reachText(cloud);
  return cloud.error ?? 'was not asked, since the configuration is not valid';
}

function reachText({ url, ok, error }: Reach): string {
  if (url === null) return 'has no address that can be asked';
  if (ok === null) return `${url} was not asked (--offline)`;
  return ok ? `${url} answers` : `${url} cannot be reached: ${error}`;
}

/** What is there, what is not, and what is neither. */
function line(ok: boolean | null, text: string, { paint, marks }: Style): string {
  const mark = ok === null ? paint('dim', marks.none) : ok ? paint('good', marks.done) : paint('bad', marks.failed);
  return `  ${mark} ${text}`;
}
