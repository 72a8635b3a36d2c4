import type { KeyProblem } from '../key-problem.ts';
import { serviceElsewhere } from '../urls/url-parts.ts';
import type { Rule } from './rule.ts';
import { connectionUrls } from './urls.ts';

/** libpq takes what a URL says over what the service says, but the password comes from the service all the same. */
export const servicesKeepTheirHosts: Rule = (draft) =>
  connectionUrls(draft).flatMap(({ path, url }): KeyProblem[] => {
    const leak = serviceElsewhere(url);
    if (!leak) return [];
    return [
      {
        path,
        severity: 'warning',
        code: 'service_elsewhere',
        message: `the password of service '${leak.service}' is sent to ${leak.host}`,
        hint: 'Leave the host to the service, or write user and password into the URL.',
      },
    ];
  });
