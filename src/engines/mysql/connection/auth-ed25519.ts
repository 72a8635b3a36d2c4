import { createHash } from 'node:crypto';

/**
 * Answers MariaDB's `client_ed25519`, which mysql2 lacks. Node signs with 32-byte keys only; here the key is hashed
 * from a password of any length. https://mariadb.com/kb/en/authentication-plugin-ed25519/, RFC 8032 5.1
 */
export function signEd25519(password: string, challenge: Uint8Array): Buffer {
  const hashed = sha512(Buffer.from(password));
  const secret = numberOf(clamped(hashed.subarray(0, 32)));
  const publicKey = encode(multiply(secret));
  const nonce = numberOf(sha512(hashed.subarray(32), challenge)) % ORDER;
  const commitment = encode(multiply(nonce));
  const hash = numberOf(sha512(commitment, publicKey, challenge)) % ORDER;
  return Buffer.concat([commitment, bytesOf((nonce + hash * secret) % ORDER)]);
}

type Point = { x: bigint; y: bigint; z: bigint; t: bigint };

const PRIME = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = mod(-121665n * power(121666n, PRIME - 2n));
const ZERO: Point = { x: 0n, y: 1n, z: 1n, t: 0n };
const BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202n;
const BASE_Y = 46316835694926478169428394003475163141307993866256225615783033603165251855960n;
const BASE: Point = { x: BASE_X, y: BASE_Y, z: 1n, t: mod(BASE_X * BASE_Y) };

function multiply(scalar: bigint): Point {
  let sum = ZERO;
  let doubled = BASE;
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = add(sum, doubled);
    doubled = add(doubled, doubled);
  }
  return sum;
}

/** Extended coordinates, complete and so also for doubling: RFC 8032 5.1.4 */
function add(p: Point, q: Point): Point {
  const a = mod((p.y - p.x) * (q.y - q.x));
  const b = mod((p.y + p.x) * (q.y + q.x));
  const c = mod(2n * D * p.t * q.t);
  const d = mod(2n * p.z * q.z);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return { x: mod(e * f), y: mod(g * h), z: mod(f * g), t: mod(e * h) };
}

function encode({ x, y, z }: Point): Buffer {
  const inverse = power(z, PRIME - 2n);
  const encoded = bytesOf(mod(y * inverse));
  if (mod(x * inverse) & 1n) encoded[31] = (encoded[31] ?? 0) | 0x80;
  return encoded;
}

function clamped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[0] = (copy[0] ?? 0) & 248;
  copy[31] = ((copy[31] ?? 0) & 63) | 64;
  return copy;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = mod(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * square);
    square = mod(square * square);
  }
  return result;
}

function mod(number: bigint): bigint {
  const rest = number % PRIME;
  return rest < 0n ? rest + PRIME : rest;
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function bytesOf(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse();
}

function sha512(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
