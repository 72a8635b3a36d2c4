import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { type PsqlSession, quoteName, quoteText, SqlError } from '../connection/session.ts';
import { parseArchiveList } from '../dump/archive.ts';
import { CONTENTS, readContents } from '../dump/archive-contents.ts';
import type { Archive } from './rows/filling.ts';

/**
 * Creates the event triggers of an archive, which only a superuser may: the text of the archive is parsed, and what is
 * executed is written anew.
 */
export async function createEventTriggers(
  session: PsqlSession,
  { directory, list }: Pick<Archive, 'directory' | 'list'>,
): Promise<void> {
  const contents = readContents(await readFile(join(directory, CONTENTS)));
  const listed = parseArchiveList(await readFile(list, 'utf8'));
  for (const { dumpId, text } of listed) {
    const statements = eventTriggerStatements(contents?.get(dumpId)?.definition ?? '');
    if (statements === null) throw refused(text);
    await session.transaction(statements).catch((error) => {
      throw error instanceof SqlError ? restoreFailed('Cannot create an event trigger', [error.message]) : error;
    });
  }
}

/** Names as the server quotes them. */
const NAME = '(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+")';
const TEXT = "'(?:[^']|'')*'";

const CREATION = new RegExp(
  `^CREATE EVENT TRIGGER (?<name>${NAME}) ON (?<event>[a-z_]+)(?:\\n +WHEN TAG IN \\((?<tags>${TEXT}(?:, ?${TEXT})*)\\))?\\n +EXECUTE FUNCTION (?<schema>${NAME})\\.(?<routine>${NAME})\\(\\);\\n(?:\\nALTER EVENT TRIGGER (?<altered>${NAME}) (?<state>DISABLE|ENABLE ALWAYS|ENABLE REPLICA);\\n)?$`,
);
const COMMENT = new RegExp(`^COMMENT ON EVENT TRIGGER (?<name>${NAME}) IS (?<text>${TEXT});\\n*$`);

/** Statements for the definition of an event trigger, or of its comment; `null` of any other text. */
export function eventTriggerStatements(definition: string): string[] | null {
  const comment = COMMENT.exec(definition)?.groups;
  if (comment?.name !== undefined && comment.text !== undefined) {
    return [`COMMENT ON EVENT TRIGGER ${written(comment.name)} IS ${quoteText(textOf(comment.text))}`];
  }
  const created = CREATION.exec(definition)?.groups;
  if (created?.name === undefined || created.schema === undefined || created.routine === undefined) return null;
  const { name, event, tags, schema, routine, altered, state } = created;
  if (altered !== undefined && altered !== name) return null;
  const texts = tags?.match(new RegExp(TEXT, 'g'))?.map((tag) => quoteText(textOf(tag)));
  const when = texts ? ` WHEN TAG IN (${texts.join(', ')})` : '';
  return [
    `CREATE EVENT TRIGGER ${written(name)} ON ${event}${when} EXECUTE FUNCTION ${written(schema)}.${written(routine)}()`,
    ...(state === undefined ? [] : [`ALTER EVENT TRIGGER ${written(name)} ${state}`]),
  ];
}

function written(name: string): string {
  return quoteName(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);
}

function textOf(literal: string): string {
  return literal.slice(1, -1).replaceAll("''", "'");
}

function refused(entry: string): UserError {
  return new UserError(`The definition of an event trigger is not as pg_dump writes it: ${entry}`, {
    code: 'definition_refused',
    exit: EXIT.refused,
    hint: 'The destination is unchanged. The snapshot was forged or damaged: do not trust it.',
  });
}
