import { randomBytes } from 'node:crypto';
import { redact } from '../../../../process/redact.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName, quoteText } from '../../connection/quote.ts';
import {
  carryOverQueries,
  JOINING_LISTS,
  lostGrantsQuery,
  readOwnership,
  warnLostGrants,
  warnNotCarried,
} from '../../swap/carry-over.ts';

export interface InPlace {
  /** To be run in the transaction, after everything is restored. */
  script: string;
  /** Reads from psql's standard error what the server refused, once the transaction is committed. */
  warn(stderr: string): void;
}

/** Owner and grants of a destination whose content is replaced in one transaction; read before it begins. */
export async function carryOverInPlace(
  context: EngineContext,
  url: DatabaseUrl,
  given: string | undefined,
): Promise<InPlace> {
  await using session = await connect(context, url);
  const ownership = await readOwnership(session);
  const [role] = await session.query<{ owner: string }>(`
    SELECT CASE WHEN pg_has_role(datdba, 'MEMBER')
        AND CASE WHEN current_setting('server_version_num')::int >= 160000 THEN pg_has_role(datdba, 'SET') ELSE true END
      THEN pg_get_userbyid(datdba) ELSE current_user END AS owner
    FROM pg_database WHERE datname = current_database()`);
  const queries = carryOverQueries({ owner: given ?? role?.owner ?? '', ownership });
  const [refused, lost] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')];
  // Each statement in a subtransaction: what is refused must not take the rows with it.
  const body = `
    DECLARE line text;
    BEGIN
      ${queries
        .map(
          (query) => `FOR line IN ${query} LOOP
            BEGIN EXECUTE line;
            EXCEPTION WHEN OTHERS THEN RAISE WARNING USING MESSAGE = ${quoteText(refused)} || to_json(line || ': ' || SQLERRM);
            END;
          END LOOP;`,
        )
        .join('\n')}
      FOR line IN ${lostGrantsQuery(ownership)} LOOP
        RAISE WARNING USING MESSAGE = ${quoteText(lost)} || to_json(line);
      END LOOP;
    END`;
  const settings = Object.entries(JOINING_LISTS)
    .map(([name, value]) => `SET LOCAL ${quoteName(name)} = ${quoteText(value)};`)
    .join('\n');
  return {
    script: `SET LOCAL search_path = pg_catalog;\n${settings}\nDO ${quoteText(body)};\n`,
    warn(stderr) {
      warnNotCarried(context, marked(stderr, refused).map(redact));
      warnLostGrants(context, marked(stderr, lost));
    },
  };
}

/** The texts that follow the word, which are secret. */
function marked(stderr: string, word: string): string[] {
  return stderr
    .split('\n')
    .filter((line) => line.includes(word))
    .map((line) => String(JSON.parse(line.slice(line.indexOf(word) + word.length))));
}
