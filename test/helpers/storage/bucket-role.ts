import { HttpRequest } from '@smithy/core/protocols';
import type { S3Server } from './s3-server.ts';

export interface BucketRole {
  name: string;
  /** All that it may touch. */
  bucket: string;
  /** Whom it trusts: a person of an identity provider. */
  provider: { url: string; clientId: string; thumbprint: string; subject: string };
}

/** Makes a role of Ceph's gateway that is taken with the ID token of a person; its name for the world (ARN). */
export async function makeBucketRole(server: S3Server, { name, bucket, provider }: BucketRole): Promise<string> {
  await server.admin('caps', 'add', '--uid', 'owner', '--caps', 'oidc-provider=*');
  await askIam(server, {
    Action: 'CreateOpenIDConnectProvider',
    Url: provider.url,
    'ClientIDList.member.1': provider.clientId,
    'ThumbprintList.member.1': provider.thumbprint,
  });
  const place = new URL(provider.url).host;
  const trusts = {
    Effect: 'Allow',
    Principal: { Federated: [`arn:aws:iam:::oidc-provider/${place}`] },
    Action: ['sts:AssumeRoleWithWebIdentity'],
    Condition: { StringEquals: { [`${place}:sub`]: provider.subject } },
  };
  const may = { Effect: 'Allow', Action: ['s3:*'], Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`] };
  await server.admin('role', 'create', '--role-name', name, '--assume-role-policy-doc', policy(trusts));
  const words = ['--role-name', name, '--policy-name', 'its-bucket', '--policy-doc', policy(may)];
  await server.admin('role-policy', 'put', ...words);
  return `arn:aws:iam:::role/${name}`;
}

/** Makes a role that the owner of the buckets may take, and that may do everything; its name for the world (ARN). */
export async function makeOwnersRole(server: S3Server, name: string): Promise<string> {
  const trusts = { Effect: 'Allow', Principal: { AWS: ['arn:aws:iam:::user/owner'] }, Action: ['sts:AssumeRole'] };
  const may = { Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] };
  await server.admin('role', 'create', '--role-name', name, '--assume-role-policy-doc', policy(trusts));
  await server.admin('role-policy', 'put', '--role-name', name, '--policy-name', 'all', '--policy-doc', policy(may));
  return `arn:aws:iam:::role/${name}`;
}

function policy(statement: object): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
}

/** The gateway's own commands know no identity providers; its IAM interface does, signed as requests to buckets are. */
async function askIam({ endpoint, client }: S3Server, parameters: Record<string, string>): Promise<void> {
  const { host, hostname, port } = new URL(endpoint);
  const body = new URLSearchParams(parameters).toString();
  const headers = { host, 'content-type': 'application/x-www-form-urlencoded' };
  const request = new HttpRequest({ protocol: 'http:', hostname, port: Number(port), method: 'POST', headers, body });
  const signer = await client.config.signer({
    name: 'sigv4',
    signingName: 'iam',
    signingRegion: 'us-east-1',
    properties: {},
  });
  const signed = await signer.sign(request, { signingService: 'iam' });
  const response = await fetch(endpoint, { method: 'POST', headers: signed.headers, body });
  if (!response.ok) throw new Error(`${parameters.Action}: ${response.status} ${await response.text()}`);
}
