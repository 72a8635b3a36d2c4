import { EXIT, UserError } from '../../../runtime/errors.ts';

export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformedUrl('a % in it is not followed by two hexadecimal digits; write a literal % as %25');
  }
}

export function readPort(text: string): number | null {
  if (text === '') return null;
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port < 65_536) return port;
  throw malformedUrl(`"${text}" is not a port`);
}

export function malformedUrl(why: string): UserError {
  return new UserError(`The connection URL cannot be read: ${why}`, {
    code: 'url_invalid',
    exit: EXIT.configuration,
    hint: 'Characters such as @ : / ? # % in a password are written %40 %3A %2F %3F %23 %25.',
  });
}
