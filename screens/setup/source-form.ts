import { defaultText, type TextEdit, textEdit } from '../../components/text-edit.ts';
import { joinParts, partsOf, partText, type RawParts, urlWithin, withPart } from '../../src/config/urls/raw-parts.ts';
import { ENGINE_PROFILES, profileOfScheme } from '../../src/engines/list.ts';
import type { Move } from '../../src/state/list.ts';
import type { SetupRoute } from './setup-route.ts';
import { SOURCE_FIELDS, type SourceField, type SourceForm } from './step.ts';

/** Until there is a URL. */
const NO_URL: RawParts = {
  scheme: 'postgres',
  host: 'localhost',
  port: '',
  user: '',
  password: '',
  database: '',
  rest: '',
};

export const EMPTY_FORM: SourceForm = { field: 'url', parts: NO_URL };

/** Typed text: the URL fills the other fields, and each of them changes the URL. */
export function sourceTyped(route: SetupRoute, typing: TextEdit): SetupRoute {
  const { field, parts } = route.form;
  if (field === 'url') {
    const url = urlWithin(typing.text);
    return withSource({ ...route, typing }, partsOf(url) ?? NO_URL, url);
  }
  const changed = withPart(parts, field, typing.text);
  return withSource({ ...route, typing }, changed, joinParts(changed));
}

/** The next type of server, with its own port. */
export function nextType(route: SetupRoute): SetupRoute {
  const { parts } = route.form;
  const at = ENGINE_PROFILES.findIndex(({ id }) => id === profileOfScheme(parts.scheme)?.id);
  const { id } = ENGINE_PROFILES[(at + 1) % ENGINE_PROFILES.length] ?? { id: parts.scheme };
  const changed = { ...parts, scheme: id };
  return withSource(route, changed, isUrl(route) ? joinParts(changed) : (route.answers.url ?? ''));
}

/** Reports whether another field would replace a typed URL that cannot be read. */
export function wouldLoseUrl(route: SetupRoute): boolean {
  return route.form.field === 'url' && (route.answers.url ?? '').trim() !== '' && !isUrl(route);
}

export function moveInForm(route: SetupRoute, move: Move): SetupRoute {
  const at = SOURCE_FIELDS.indexOf(route.form.field);
  const field = SOURCE_FIELDS[move === 'up' ? at - 1 : move === 'down' ? at + 1 : at];
  return field === undefined ? route : inField(route, field);
}

export function inField(route: SetupRoute, field: SourceField): SetupRoute {
  return { ...route, form: { ...route.form, field }, typing: fieldEdit(route, field) };
}

/** `null` for the type, which is not typed. */
function fieldEdit(route: SetupRoute, field: SourceField): TextEdit | null {
  if (field === 'scheme') return null;
  const text = fieldText(route, field);
  return field === 'host' && !isUrl(route) ? defaultText(text) : textEdit(text);
}

export function fieldText({ answers, form }: Pick<SetupRoute, 'answers' | 'form'>, field: SourceField): string {
  if (field === 'url') return answers.url ?? '';
  if (field !== 'scheme') return partText(form.parts, field);
  return profileOfScheme(form.parts.scheme)?.products.join(', ') ?? form.parts.scheme;
}

/** Returns the default of an empty field. */
export function fieldPlaceholder({ form: { parts } }: Pick<SetupRoute, 'form'>, field: SourceField): string {
  const port = profileOfScheme(parts.scheme)?.defaultPort;
  return field === 'port' && port !== undefined ? String(port) : '';
}

function isUrl({ answers }: SetupRoute): boolean {
  return partsOf(answers.url?.trim() ?? '') !== null;
}

function withSource(route: SetupRoute, parts: RawParts, url: string): SetupRoute {
  return { ...route, form: { ...route.form, parts }, answers: { ...route.answers, url } };
}
