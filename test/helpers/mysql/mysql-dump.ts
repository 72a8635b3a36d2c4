import type { TestMysql } from './mysql-server.ts';

/** Where a table, a view or anything else begins in a dump. */
const BEGINNING =
  /^(?:\/\*!\d+ )?(?:DROP (?:TABLE|VIEW|SEQUENCE|FUNCTION|PROCEDURE|PACKAGE|PACKAGE BODY|EVENT) IF EXISTS |CREATE SEQUENCE |LOCK TABLES |ALTER DATABASE )/m;

/**
 * What the flavour's own dump says of a database, which knows nothing of the program's own inventory: one piece for
 * each statement, with the name of the database taken out.
 */
export async function piecesOfDump(server: TestMysql, database: string): Promise<string[]> {
  const dump = await server.dumpOfAll(database);
  return (
    dump
      .replaceAll(`\`${database}\``, '`DATABASE`')
      // MySQL writes the character set of a column whose collation was named, which it writes as well.
      .replaceAll(/ CHARACTER SET \w+(?= COLLATE )/g, '')
      .split(new RegExp(`(?=${BEGINNING.source})`, 'm'))
      .map((piece) => piece.trim())
  );
}

/** What the second dump lacks of the first, and has besides: empty when both say the same, in the same order. */
export function differencesOf(before: string[], after: string[]): string[] {
  const count = (pieces: string[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const piece of pieces) counts.set(piece, (counts.get(piece) ?? 0) + 1);
    return counts;
  };
  const [wanted, found] = [count(before), count(after)];
  const lacking = before.filter((piece) => (found.get(piece) ?? 0) < (wanted.get(piece) ?? 0));
  const besides = after.filter((piece) => (wanted.get(piece) ?? 0) < (found.get(piece) ?? 0));
  const differences = [...lacking.map((piece) => `- ${piece}`), ...besides.map((piece) => `+ ${piece}`)];
  const inOrder = differences.length > 0 || before.every((piece, at) => piece === after[at]);
  return inOrder ? differences : ['the objects are in another order'];
}
