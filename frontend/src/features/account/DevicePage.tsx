import { Button, Code, Group, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { sessionQuery } from '~/api/access'
import { shownError, useConfirmation } from '~/api/confirmation'
import { approveDeviceLogin, type DeviceLogin, denyDeviceLogin, lookUpDeviceLogin } from '~/api/deviceLogins'
import { formatMoment } from '~/lib/time'
import { longest } from '~/ui/CheckedInput'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { ActionError, Loading, Notice } from '~/ui/State'
import { strings } from './deviceStrings'

/** The page on which a person confirms the code of a device. `code` is that of the address. */
export function DevicePage({ code, onCode }: { code: string | undefined; onCode: (code: string | undefined) => void }) {
  const login = useQuery({
    queryKey: ['device-login', code],
    queryFn: () => lookUpDeviceLogin(code ?? ''),
    enabled: code !== undefined,
    retry: false,
    // A second look-up would not find a code that this page has just confirmed.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  return (
    <Page title={strings.connectDevice} lead={strings.lead}>
      {code !== undefined && login.isPending ? (
        <Loading what={strings.code.toLowerCase()} />
      ) : login.data && code !== undefined ? (
        <Decision login={login.data} onAnother={() => onCode(undefined)} />
      ) : (
        <EnterCode code={code ?? ''} error={login.error} onCode={onCode} />
      )}
    </Page>
  )
}

function EnterCode(props: { code: string; error: unknown; onCode: (code: string) => void }) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    props.onCode(String(new FormData(event.currentTarget).get('code')).trim().toUpperCase())
  }
  return (
    <Panel>
      <form className={pageStyles.form} onSubmit={submit}>
        <TextInput
          name="code"
          label={strings.code}
          placeholder={strings.codeExample}
          defaultValue={props.code}
          autoComplete="off"
          spellCheck={false}
          required
          withAsterisk={false}
          minLength={8}
          {...longest(20)}
          w={200}
        />
        <Button type="submit" size="sm">
          {strings.next}
        </Button>
      </form>
      <ActionError error={props.error} />
    </Panel>
  )
}

function Decision({ login, onAnother }: { login: DeviceLogin; onAnother: () => void }) {
  const { data: session } = useQuery(sessionQuery)
  const clock = useClock()
  const confirmation = useConfirmation()
  const [decided, setDecided] = useState<'allowed' | 'refused' | null>(null)
  const allow = useMutation({
    mutationFn: () => approveDeviceLogin(login.user_code),
    onSuccess: () => setDecided('allowed'),
    onError: (error) => confirmation.ask(error, () => allow.mutate()),
  })
  const refuse = useMutation({
    mutationFn: () => denyDeviceLogin(login.user_code),
    onSuccess: () => setDecided('refused'),
  })
  if (decided !== null) return <Decided login={login} isAllowed={decided === 'allowed'} />
  const asked = new Date(login.created_at)
  const rows = [
    [strings.device, login.device_name],
    [strings.from, login.address],
    [strings.program, login.program],
    [strings.asked, formatMoment(asked, clock)],
    [strings.account, strings.actsAs(session?.user.email ?? '', login.role, login.tenant_name)],
    [strings.scope, login.role === 'viewer' ? strings.read : strings.write],
    [strings.validFor, strings.days(login.key_valid_days)],
  ] as const
  return (
    <Panel title={strings.question(login.device_name)}>
      <p>
        {strings.check} <Code fz="lg">{login.user_code}</Code>
      </p>
      <dl className={pageStyles.facts}>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Group>
        <Button onClick={() => allow.mutate()} loading={allow.isPending}>
          {strings.allow}
        </Button>
        <Button variant="default" onClick={() => refuse.mutate()} loading={refuse.isPending}>
          {strings.refuse}
        </Button>
        <Button variant="subtle" onClick={onAnother}>
          {strings.another}
        </Button>
      </Group>
      <ActionError error={shownError(allow.error) ?? refuse.error} />
      <ProofDialog proof={confirmation} />
    </Panel>
  )
}

function Decided({ login, isAllowed }: { login: DeviceLogin; isAllowed: boolean }) {
  return (
    <Panel>
      <Notice
        tone={isAllowed ? 'good' : 'info'}
        title={isAllowed ? strings.connected(login.device_name) : strings.refused(login.device_name)}
      >
        {isAllowed ? strings.connectedLead : strings.refusedLead}
      </Notice>
      {isAllowed && <TextLink to="/api-keys">{strings.apiKeys}</TextLink>}
    </Panel>
  )
}
