import * as v from 'valibot';
import { URL_SCHEMES } from '../../engines/list.ts';
import { parseTunnel } from '../../engines/tunnel-address.ts';
import { parseDuration } from '../../text/duration.ts';
import { isConnectionUrl, parameterProblem } from '../urls/url-scheme.ts';
import { optionalKey } from './key.ts';
import { traits } from './traits.ts';

export const text = v.pipe(
  v.string(),
  v.nonEmpty('must not be empty'),
  v.check((value) => !value.includes('\0'), 'must not hold a NUL character'),
);

export const path = v.pipe(text, traits({ path: true }));

/** May contain a password, so it counts as a secret. */
const databaseUrl = v.pipe(
  text,
  v.check(
    isConnectionUrl,
    `must be a connection URL with the scheme ${URL_SCHEMES.slice(0, -1).join(', ')} or ${URL_SCHEMES.at(-1)}`,
  ),
  v.check(
    (url) => parameterProblem(url) === null,
    ({ input }) => `must be a connection URL that can be read: ${parameterProblem(input)}`,
  ),
  v.examples(['postgres://app:{{`APP_PASSWORD` | env}}@localhost:5432/app']),
  traits({ secret: true, template: true, hint: 'Write it as postgres://user@host:5432/database.' }),
);

export const sourceUrl = v.pipe(databaseUrl, traits({ effect: 'reads' }));

export const destinationUrl = v.pipe(databaseUrl, traits({ effect: 'replaces' }));

export const tunnelUrl = v.pipe(
  text,
  v.check(
    (value) => parseTunnel(value) !== null,
    'must be ssh://user@host:port, of letters, digits, hyphens, dots and underscores',
  ),
  v.examples(['ssh://deploy@bastion.example.com']),
  traits({ effect: 'tunnels', hint: 'Write all else, such as keys and jumps, in ~/.ssh/config.' }),
);

export const webUrl = v.pipe(
  text,
  v.check(isWebUrl, 'must be a URL that begins with http:// or https://'),
  v.examples(['https://example.com']),
  traits({ effect: 'connects' }),
);

/** A part of a host name: the S3 client builds addresses from it. */
export const hostLabel = v.pipe(
  text,
  v.check((value) => value === '' || isHostLabel(value), 'must be letters, digits and hyphens only, as in a host name'),
  traits({ hint: 'Use the spelling of the provider, without spaces: eu-central-1.' }),
);

export function isHostLabel(value: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(value);
}

export const sql = v.pipe(text, traits({ effect: 'runs_sql' }));

export const tableName = v.pipe(
  v.string(),
  v.regex(/^[^.\s][^.]*\.[^.]*[^.\s]$/, 'must be a table with its schema: schema.table'),
  v.examples(['public.orders']),
  traits({ names: 'table', hint: 'Include the schema, such as public.orders.' }),
);

export const publicKey = v.pipe(
  v.string(),
  v.regex(/^ed25519-[A-Za-z0-9+/]{43}=$/, 'must be a public key as tool key prints it: ed25519-…'),
  traits({ effect: 'trusts' }),
);

export const storageProfile = v.pipe(text, traits({ names: 'storage_profile' }), v.examples(['team']));

export const wholeFrom1 = v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(1, 'must be at least 1'));

export const cores = v.pipe(wholeFrom1, v.examples([4]));

export const duration = v.pipe(
  text,
  v.check((value) => parseDuration(value) !== null, 'must be a duration such as 12h, 30d or 8w'),
);

/** Names of files have 255 bytes at most, and some have an ending behind the name. */
const LONGEST_ENCODED = 220;

/** Names are parts of paths, keys in buckets and command lines. */
export const name = v.pipe(
  v.string(),
  // Vowel signs and accents are marks: without them, words of many scripts are not names.
  v.regex(/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]{0,63}$/u, 'must be a name of letters, digits, ".", "_", "-" and spaces'),
  v.check((value) => value === value.normalize('NFC'), 'must be in Unicode normalization form C'),
  v.check((value) => encodeURIComponent(value).length <= LONGEST_ENCODED, 'is too long for the name of a file'),
  traits({ hint: 'Use at most 64 characters, beginning with a letter or a digit.' }),
);

export function isWebUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** At a target, and for all targets in `defaults`. */
export const baseCopyKeys = {
  keep_base: optionalKey(v.boolean(), 'Loads keep a base copy for tool reset.', { example: false }),
  keep_spare: optionalKey(
    v.boolean(),
    'Loads, resets and prunes of branches keep a spare, for an instant next reset or tree.',
    {
      example: false,
    },
  ),
};
