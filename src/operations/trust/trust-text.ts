import { storedEffect } from '../../config/trust/stored-effect.ts';
import type { TrustRequest } from '../../config/trust/trust-request.ts';
import type { Effect } from '../../results/configuration/effects.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { joinLines } from '../../text/printable.ts';

export const TRUST_QUESTION = 'Trust this configuration?';

export interface TrustLine {
  label: string;
  text: string;
}

type TrustQuestion = Pick<TrustRequest, 'file' | 'effects' | 'answered'>;

export function trustAbout({ file, effects, answered }: TrustQuestion): string[] {
  if (!answered) {
    return [
      `You have not trusted this configuration yet: ${file}`,
      replaceableText(effects),
      'It has not been used so far. Effects if you trust it:',
    ];
  }
  return [
    `This configuration has changed since you trusted it: ${file}`,
    replaceableText(effects),
    'The changed file has not been used so far. New since your last answer:',
  ];
}

/** `Databases that it can replace: postgres://localhost/app_dev, …` */
function replaceableText(effects: Effect[]): string {
  const names = [...new Set(effects.flatMap(({ effect, object }) => (effect === 'replaces' ? [visible(object)] : [])))];
  return names.length === 0
    ? 'It cannot replace any database.'
    : `Databases that it can replace: ${boundedList(names, 5)}`;
}

export interface EffectChanges {
  added: Effect[];
  removed: Effect[];
}

/** The effects since the last answer; all of them without one. */
export function effectChanges({ effects, answered }: Pick<TrustQuestion, 'effects' | 'answered'>): EffectChanges {
  // The answer is stored: a second hash of encrypted content would be another one.
  const keyOf = (stored: Effect): string => JSON.stringify(Object.entries(stored).sort());
  const before = new Set((answered ?? []).map(keyOf));
  const now = new Set(effects.map((effect) => keyOf(storedEffect(effect))));
  return {
    added: effects.filter((effect) => !before.has(keyOf(storedEffect(effect)))),
    removed: (answered ?? []).filter((effect) => !now.has(keyOf(effect))),
  };
}

/** The effects of the question, several lines for a text of several. */
export function trustItems(request: Pick<TrustQuestion, 'effects' | 'answered'>): TrustLine[] {
  const { added, removed } = effectChanges(request);
  const lines = [
    ...added.map(effectLine),
    ...removed.map((effect) => {
      const { label, text } = effectLine(withoutHash(effect));
      return { label: 'No longer', text: `${label.toLowerCase()} ${text}` };
    }),
  ];
  if (lines.length === 0)
    lines.push({ label: 'Changes', text: 'values that are not shown: passwords, keys, or order' });
  return lines.flatMap(({ label, text }) =>
    visible(text)
      .split('\n')
      .map((part, index) => ({ label: index === 0 ? label : '', text: part })),
  );
}

/** A stored effect has a hash in place of encrypted content, which says nothing to a person. */
function withoutHash(effect: Effect): Effect {
  if (!effect.sealed) return effect;
  return effect.effect === 'sets' ? { ...effect, detail: ENCRYPTED_TEXT } : { ...effect, object: ENCRYPTED_TEXT };
}

const ENCRYPTED_TEXT = 'an encrypted value';

export function formerSourceText({ former_source }: { former_source: string }): string {
  return `${former_source} is no longer remembered as a source`;
}

export function declaredSourcesText({ unverified_sources: sources }: { unverified_sources: string[] }): string {
  return `Loads go on while these sources cannot be identified: ${sources.join(', ') || 'none'}`;
}

export function clearStorageText({ clear_storage }: { clear_storage: string }): string {
  return `Snapshots of storage profile "${clear_storage}" may be stored without encryption`;
}

export function trustedText({ file, effects }: Pick<TrustQuestion, 'file' | 'effects'>): string {
  const lines = trustLines({ effects, answered: null }).map((line) => `  ${line}`);
  if (effects.length === 0) return `This configuration needs no trust: ${file}`;
  return joinLines([`This configuration is trusted: ${file}`, 'Effects:', ...lines]);
}

const LABELS: Record<Effect['effect'], string> = {
  reads: 'Reads',
  replaces: 'Replaces',
  allows: 'Allows loads',
  stores: 'Stores in',
  connects: 'Connects to',
  tunnels: 'Logs in by SSH',
  reads_variable: 'Reads variables',
  uses_file: 'Uses files',
  writes_folder: 'Writes to',
  runs_image: 'Runs images',
  runs_program: 'Runs programs',
  runs_command: 'Runs commands',
  runs_sql: 'Runs SQL',
  runs_file: 'Runs SQL file',
  trusts: 'Trusts keys',
  sets: 'Sets',
};

export const LABEL_WIDTH = Math.max(...Object.values(LABELS).map((label) => label.length));

export function trustLines(request: Pick<TrustQuestion, 'effects' | 'answered'>): string[] {
  return trustItems(request).map(({ label, text }) => `${label.padEnd(LABEL_WIDTH)}  ${text}`);
}

function effectLine(effect: Effect): TrustLine {
  return { label: LABELS[effect.effect], text: effectText(effect) };
}

function effectText({ effect, object, detail = '' }: Effect): string {
  switch (effect) {
    case 'allows':
      return `of ${object} over the source of ${detail}`;
    case 'stores':
      return `${object}, ${detail}`;
    case 'sets':
      return detail === '' ? object : `${object} = ${detail}`;
    default:
      return detail === '' ? object : `${object} (${detail})`;
  }
}

/** Replaces control and bidirectional characters, so that a file cannot move the reader's cursor. */
function visible(text: string): string {
  return text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
