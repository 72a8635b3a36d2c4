import { createHash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import * as v from 'valibot';
import { publicKey } from '../../src/config/schema/values.ts';
import { isLoopback } from '../../src/text/loopback.ts';

/** Wraps data keys: the newest encrypts, all of them decrypt. */
export interface HubKey {
  id: string;
  bytes: Buffer;
}

export interface Address {
  host: string;
  port: number;
}

/** Builds of this branch may push to these targets. */
export interface BranchRule {
  repository: string;
  ref: string;
  targets: string[];
}

export function keyOf(bytes: Buffer): HubKey {
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
}

export function hubKeys(text: string): HubKey[] {
  return listed(text).map((key) => {
    if (!/^[0-9a-f]{64}$/i.test(key)) throw new Error('must be keys of 64 hexadecimal digits, separated by commas');
    return keyOf(Buffer.from(key, 'hex'));
  });
}

/** The schema of a text that `read` understands; the message of its error is that of the issue. */
export function readBy<Value>(read: (text: string) => Value) {
  return v.pipe(
    v.string(),
    v.rawTransform<string, Value>(({ dataset, addIssue, NEVER }) => {
      try {
        return read(dataset.value);
      } catch (error) {
        addIssue({ message: (error as Error).message });
        return NEVER;
      }
    }),
  );
}

/** By commas or lines. */
export function listed(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function publicKeys(text: string): string[] {
  return listed(text).map((key) => {
    if (!v.is(publicKey, key)) throw new Error('must be public keys: tool key prints that of a machine');
    return key;
  });
}

/** `host:port`, `[::1]:port` or a port alone. */
export function address(text: string): Address {
  const [, v6, host, digits] = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text) ?? [];
  if (digits === undefined || Number(digits) > 65_535) {
    throw new Error('must be an address and a port: 127.0.0.1:3000');
  }
  return { host: v6 ?? host ?? '127.0.0.1', port: Number(digits) };
}

export function httpsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLoopback(url))) {
    throw new Error('must be a URL that begins with https://');
  }
  return text.replace(/\/+$/, '');
}

export function networks(text: string): BlockList {
  const list = new BlockList();
  for (const entry of listed(text)) {
    const [host = '', bits] = entry.split('/');
    const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(host) === 0) throw new Error('must be addresses or networks: 10.0.0.0/8');
    if (bits === undefined) list.addAddress(host, family);
    else list.addSubnet(host, Number(bits), family);
  }
  return list;
}

/** `acme/app@main=orders+users` */
export function githubRules(text: string): BranchRule[] {
  return branchRules(text, { repositories: /^[\w.-]+\/[\w.-]+$/, form: 'OWNER/REPOSITORY@BRANCH=TARGET+TARGET' });
}

/** `acme/apps/app@main=orders+users` */
export function gitlabRules(text: string): BranchRule[] {
  return branchRules(text, { repositories: /^[\w.-]+(\/[\w.-]+)+$/, form: 'GROUP/PROJECT@BRANCH=TARGET+TARGET' });
}

function branchRules(text: string, { repositories, form }: { repositories: RegExp; form: string }): BranchRule[] {
  return listed(text).map((rule) => {
    const [, repository = '', branch, names] = /^([^@\s]+)@([^=\s]+)=(.+)$/.exec(rule) ?? [];
    if (!repositories.test(repository) || !branch || !names) throw new Error(`must be ${form}`);
    const targets = names.split('+').map((name) => name.trim());
    return { repository, ref: `refs/heads/${branch}`, targets };
  });
}
