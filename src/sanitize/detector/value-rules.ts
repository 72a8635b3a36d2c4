import { isIP } from 'node:net';
import type { ColumnFamily } from '../column-facts.ts';
import { FIRST_NAMES } from './first-names.ts';
import type { PersonalKind } from './kinds.ts';
import { wordsOf } from './words.ts';

export interface ValueRule {
  kind: PersonalKind;
  families: ColumnFamily[];
  fits: (value: string) => boolean;
  share: number;
  /** Words of columns with similar values of another kind. */
  except?: RegExp;
}

const EMAIL = /^[^\s@<>"]+@[^\s@<>"]+\.[\p{L}]{2,}$/u;
const EMAIL_WITHIN = /(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\p{L}{2,}/u;
const INTERNATIONAL_PHONE = /^\+\d[\d ()./-]{7,}$/;
const PHONE_WITHIN = /(?:^|[\s:(])\+\d{1,3}[ \d()./-]{8,}\d/;
const JWT = /^eyJ[\w+/=-]{8,}\.[\w+/=\s-]{8,}\./;
/** Prefixes of providers' keys, and forms of hashed passwords. */
const KEY =
  /^(?:(?:sk|pk|rk)_(?:live|test)_\w{8,}|AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{10,}|SG\.[\w-]{16,}|\$2[abxy]?\$\d\d\$|\$argon2|\$[156]\$|pbkdf2|-----BEGIN [A-Z ]*PRIVATE KEY)/;
/** 6 or 8 bytes; 8 bytes also match IPv6. */
const HARDWARE_ADDRESS = /^[\da-f]{2}(?:([:-])[\da-f]{2})(?:\1[\da-f]{2}){4}(?:(?:\1[\da-f]{2}){2})?$/i;
/** Visa, Mastercard, American Express, Discover. */
const CARD = /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12})$/;

export const VALUE_RULES: ValueRule[] = [
  { kind: 'email', families: ['text'], share: 0.5, fits: (value) => EMAIL.test(value) },
  { kind: 'iban', families: ['text'], share: 0.5, fits: isIban },
  { kind: 'card', families: ['text', 'number'], share: 0.8, fits: isCard },
  { kind: 'secret', families: ['text'], share: 0.5, fits: (value) => JWT.test(value) || KEY.test(value) },
  {
    kind: 'ip_address',
    families: ['text', 'network'],
    share: 0.8,
    fits: (value) => isIP(value.replace(/\/\d+$/, '')) !== 0 && !HARDWARE_ADDRESS.test(value),
    except: /version|firmware|release|build|netmask|subnet|cidr/,
  },
  {
    kind: 'device',
    families: ['text', 'hardware'],
    share: 0.8,
    fits: (value) => HARDWARE_ADDRESS.test(value),
  },
  {
    kind: 'phone',
    families: ['text'],
    share: 0.8,
    fits: (value) => INTERNATIONAL_PHONE.test(value) && /(?:\D*\d){9}/.test(value),
  },
  { kind: 'name', families: ['text'], share: 0.5, fits: isPersonName },
  { kind: 'email', families: ['document'], share: 0.2, fits: (value) => EMAIL_WITHIN.test(value) },
  {
    kind: 'free_text',
    families: ['text', 'document'],
    share: 0.2,
    fits: (value) => EMAIL_WITHIN.test(value) || PHONE_WITHIN.test(value),
  },
];

function isIban(value: string): boolean {
  const text = value.replaceAll(' ', '');
  return /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/i.test(text) && passesIban(text);
}

function isCard(value: string): boolean {
  const digits = value.replaceAll(/[ -]/g, '');
  return CARD.test(digits) && passesLuhn(digits);
}

/** One to four words, the first a known first name. */
function isPersonName(value: string): boolean {
  if (!/^\p{L}[\p{L}\p{M}' .-]{1,60}$/u.test(value)) return false;
  const parts = wordsOf(value).split(' ');
  return parts.length <= 5 && FIRST_NAMES.has(parts[0] ?? '');
}

/** Luhn's check digit of payment cards and IMEIs. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 0 && sum % 10 === 0;
}

/** ISO 13616: country and check digits moved to the end, letters as numbers, modulo 97. */
function passesIban(text: string): boolean {
  const moved = text.slice(4) + text.slice(0, 4);
  let remainder = 0;
  for (const character of moved.toUpperCase()) {
    const value = Number.parseInt(character, 36);
    if (Number.isNaN(value)) return false;
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}
