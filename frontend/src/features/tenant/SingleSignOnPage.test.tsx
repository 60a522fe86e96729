import { expect, test } from 'vitest'
import { bodiesOf, fail, fill, recorded, recordedItem, reply, screen, signedIn, userEvent, visit } from '~/testing/page'
import { rolesOf } from './ProviderForm'
import { SingleSignOnPage } from './SingleSignOnPage'

const PATH = '/v1/identity-provider'
const PROVIDER = recorded('/v1/identity-provider', { roles: { 'Network team': 'admin' }, version: 3 })
const DOMAIN = recordedItem('/v1/identity-provider/domains', { id: 'd', domain: 'example.com', verified_at: null })
const policy = { second_factor_required: false, single_sign_on_required: false }

test.each([
  ['noc=admin\n\n Network team = editor \na=b=viewer', { noc: 'admin', 'Network team': 'editor', 'a=b': 'viewer' }],
  ['noc=admin\nsre', 'sre'],
  ['noc=owner', 'noc=owner'],
  ['=viewer', '=viewer'],
])('lines of groups and roles: %j', (text, roles) => {
  expect(rolesOf(text)).toEqual(roles)
})

test('an owner sets the first provider; a line that is none is named', async () => {
  const { sent } = await visit(<SingleSignOnPage />, {
    [`GET ${PATH}`]: () => reply(404, { code: 'identity_provider_unknown', detail: 'Not found.' }),
    [`GET ${PATH}/domains`]: [],
    [`PUT ${PATH}`]: PROVIDER,
  })
  await screen.findByText(/No identity provider yet/)
  await userEvent.click(screen.getByRole('button', { name: 'Set up provider' }))
  await fill(await screen.findByLabelText('Issuer'), 'https://login.example.com')
  await fill(screen.getByLabelText('Client ID'), 'sinemora')
  await fill(screen.getByLabelText('Client secret'), 'a secret')
  await fill(screen.getByLabelText('Roles by group'), 'noc')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByText(/“noc” should look like GROUP=ROLE/)
  await fill(screen.getByLabelText('Roles by group'), 'noc=admin')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await expect
    .poll(() => bodiesOf(sent, `PUT ${PATH}`))
    .toEqual([
      {
        issuer: 'https://login.example.com',
        client_id: 'sinemora',
        client_secret: 'a secret',
        scopes: 'openid email profile',
        groups_claim: 'groups',
        roles: { noc: 'admin' },
      },
    ])
  expect(sent.find(({ to }) => to === `PUT ${PATH}`)?.headers.get('If-Match')).toBe('"0"')
})

test('a test, a domain without its record and the requirement show what the server answers', async () => {
  const { sent } = await visit(<SingleSignOnPage />, {
    [`GET ${PATH}`]: PROVIDER,
    [`GET ${PATH}/domains`]: [DOMAIN],
    [`POST ${PATH}/tests`]: { error: 'the provider refuses client id or client secret' },
    [`POST ${PATH}/domains/d/verify`]: () => fail(409, 'Record missing: example.com has no such TXT record.'),
    'GET /v1/sign-in-policy': policy,
    'PUT /v1/sign-in-policy': { ...policy, single_sign_on_required: true },
  })
  expect(await screen.findByText('Network team: admin')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Test provider' }))
  expect(await screen.findByText(/refuses client id/)).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Verify example.com' }))
  expect(await screen.findByText(/Record missing/)).toBeTruthy()
  await userEvent.click(screen.getByRole('checkbox', { name: 'Single sign-on only' }))
  expect(bodiesOf(sent, 'PUT /v1/sign-in-policy')).toEqual([{ single_sign_on_required: true }])
})

test('an administrator sees the provider and changes nothing', async () => {
  await visit(<SingleSignOnPage />, {
    ...signedIn({ role: 'admin' }),
    [`GET ${PATH}`]: PROVIDER,
    [`GET ${PATH}/domains`]: [DOMAIN],
    'GET /v1/sign-in-policy': policy,
  })
  expect(await screen.findByText(/Owners change it/)).toBeTruthy()
  expect(screen.queryByRole('button', { name: /Edit|Test|Delete|Add domain|Verify/ })).toBeNull()
  expect((await screen.findByRole<HTMLInputElement>('checkbox')).disabled).toBe(true)
})
