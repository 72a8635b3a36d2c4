import type { Command, CommanderError } from 'commander';
import type { ErrorCode } from '../runtime/error-codes.ts';
import { UserError } from '../runtime/errors.ts';
import { capitalized } from '../text/format.ts';
import { nearest } from '../text/nearest.ts';

/** Stable codes, listed in docs/errors.md. */
const CODES: Record<string, ErrorCode> = {
  'commander.unknownCommand': 'unknown_command',
  'commander.unknownOption': 'unknown_flag',
  'commander.missingArgument': 'missing_argument',
  'commander.excessArguments': 'excess_argument',
  'commander.optionMissingArgument': 'missing_value',
  'commander.invalidArgument': 'invalid_value',
};

export function usageError(error: CommanderError, command: Command): UserError {
  const [message = '', suggested = ''] = error.message.replace(/^error: /, '').split('\n');
  const words = commandWords(command);
  const hints: Record<string, string> = {
    missing_argument: `Usage: ${words} ${command.usage()}`,
    excess_argument: `Usage: ${words} ${command.usage()}`,
  };
  const code = CODES[error.code] ?? 'usage';
  const help = `${words} --help lists the ${code === 'unknown_command' ? 'commands' : 'options'}.`;
  return new UserError(code, capitalized(withoutPassword(message)), {
    hint: hints[code] ?? replacementOf(words, message) ?? `${suggestionOf(message, suggested)}${help}`,
  });
}

/** Flags of DBSnapper that have another name here. */
const REPLACED_FLAGS: Record<string, string> = {
  'tool --nocloud': 'Without authtoken (TOOL_AUTHTOKEN) no command uses a hub.',
  'tool --noui': 'Use --no-tui.',
  'tool load --src_url': 'Use --source, which runs an SQL file on the source: tool load TARGET FILE.sql --source',
  'tool target --destdb':
    'tool target TARGET --info shows the destination, and tool load TARGET --destdb URL loads elsewhere.',
  'tool targets --destdb':
    'tool targets --info shows the destinations, and tool load TARGET --destdb URL loads elsewhere.',
  'tool --update': 'Omit it: databases and buckets are always asked, without --no-check.',
  'tool --cloud': 'tool targets and tool target list the places of every snapshot.',
  'tool build --sanitize': 'Omit it: a build sanitizes where the target has a query.',
  'tool --stdio': 'Omit it: tool mcp uses standard input and output.',
  'tool load --no-keep-base': 'Set keep_base: false at the target, or drop the copy: tool reset TARGET --drop',
  'tool --no-spare': 'Set keep_spare: false at the target, or drop the copies: tool reset TARGET --drop',
  'tool --cpus': 'Set cpus at the target or in defaults, or TOOL_DEFAULTS__CPUS.',
  'tool --listen': 'Set TOOL_HUB_LISTEN.',
};

function replacementOf(words: string, message: string): string | undefined {
  const [, flag] = /^unknown option '(--[\w-]+)/.exec(message) ?? [];
  return REPLACED_FLAGS[`${words} ${flag}`] ?? REPLACED_FLAGS[`tool ${flag}`];
}

/** The parser also suggests distant words; only close ones are kept. */
function suggestionOf(message: string, suggested: string): string {
  const [, wanted = ''] = /'([^']*)'$/.exec(message) ?? [];
  const dashes = /^-*/.exec(wanted)?.[0] ?? '';
  const [, words = ''] = /^\(Did you mean (?:one of )?(.+)\?\)$/.exec(suggested) ?? [];
  const known = words.split(', ').map((word) => word.replace(/^-+/, ''));
  if (words === '') return '';
  const near = nearest(wanted.slice(dashes.length), known);
  return near === null ? '' : `Did you mean ${dashes}${near}? `;
}

function commandWords(command: Command): string {
  return command.parent ? `${commandWords(command.parent)} ${command.name()}` : command.name();
}

/** A password in a quoted word may have spaces, which in other texts end a URL. */
function withoutPassword(message: string): string {
  return message.replace(/(:\/\/[^:/]*:).*@/, '$1***@');
}
