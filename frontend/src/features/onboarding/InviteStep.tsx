import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { serverNow } from '~/api/connection'
import { useCreateToken } from '~/api/inventory'
import type { EnrolmentToken, Mesh } from '~/api/types'
import { formatAge, formatShortMoment } from '~/lib/time'
import { Choice } from '~/ui/Choice'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { NumberField, numberOf } from '~/ui/NumberField'
import { ActionError, Notice } from '~/ui/State'
import { useMissing } from '~/ui/useMissing'
import { useNow } from '~/ui/useNow'
import { cloudInit, loopbackBackend, withZone, type ZoneHint } from './command'
import styles from './onboarding.module.css'
import { strings } from './strings'

const LIVES = { 3600: strings.oneHour, 86400: strings.oneDay, 604800: strings.sevenDays }

interface Props {
  mesh: Mesh | undefined
  token: EnrolmentToken | null
  onToken: (token: EnrolmentToken) => void
}

/** Create the command to run, valid for a number of machines and a time. */
export function InviteStep({ mesh, token, onToken }: Props) {
  const create = useCreateToken()
  const [machines, setMachines] = useState(2)
  const [life, setLife] = useState('3600')
  const [zone, setZone] = useState({ provider: '', region: '', name: '' })
  const zoneField = (key: keyof typeof zone, label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      w={140}
      disabled={!mesh}
      value={zone[key]}
      onChange={(event) => {
        const { value } = event.currentTarget
        setZone((old) => ({ ...old, [key]: value }))
      }}
    />
  )
  const missing = useMissing({ mesh: mesh ? null : strings.meshFirst })

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!mesh) return
    create.mutate({ mesh_id: mesh.id, expires_in_s: Number(life), max_uses: machines }, { onSuccess: onToken })
  }

  return (
    <section className={styles.step}>
      <h2>{strings.commandTitle}</h2>
      <p className={styles.lead}>
        {strings.agentIs} <code>sinemora-agent</code>
        {strings.agentDetails}
      </p>
      <div className={styles.row}>
        {zoneField('provider', strings.provider, 'aws')}
        {zoneField('region', strings.region, 'eu-west-1')}
        {zoneField('name', strings.zone, 'eu-west-1a')}
      </div>
      <form className={styles.row} onSubmit={submit}>
        <NumberField
          label={strings.machines}
          min={1}
          max={10_000}
          required
          withAsterisk={false}
          w={160}
          disabled={!mesh}
          error={missing.at('mesh')}
          value={machines}
          onChange={({ currentTarget: { value } }) => setMachines(numberOf(value))}
        />
        <Choice label={strings.validFor} data={LIVES} w={110} disabled={!mesh} value={life} onChange={setLife} />
        <Button
          type="submit"
          size="sm"
          onClick={missing.onAttempt}
          loading={create.isPending}
          variant={token ? 'default' : 'filled'}
        >
          {token ? strings.newCommand : strings.showCommand}
        </Button>
      </form>
      <ActionError error={create.error} />
      {token && (
        <>
          <Commands token={token} zone={zone} />
          <Expiry token={token} />
        </>
      )}
    </section>
  )
}

/** Commands that install the agent, and one that runs it where it is installed. */
function Commands({ token, zone }: { token: EnrolmentToken; zone: ZoneHint }) {
  const unreachable = loopbackBackend(token.command)
  return (
    <>
      {unreachable && (
        <Notice tone="warn" title={strings.loopbackTitle}>
          {strings.loopbackLead(unreachable)} <code>SINEMORA_PUBLIC_URL</code> {strings.loopbackEnd}
        </Notice>
      )}
      {token.install_command ? (
        <>
          <p className={styles.lead}>{strings.installHint}</p>
          <CopyText text={withZone(token.install_command, zone)} label={strings.installCommand} />
          <p className={styles.lead}>{strings.cloudInitHint}</p>
          <CopyText text={cloudInit(withZone(token.install_command, zone))} label={strings.cloudInitData} />
        </>
      ) : (
        <>
          <p className={styles.lead}>{strings.noPackagesHint}</p>
          <CopyText text={strings.buildPackages} label={strings.buildPackagesCommand} />
        </>
      )}
      <p className={styles.lead}>{strings.installedHint}</p>
      <CopyText text={withZone(token.command, zone)} label={strings.runCommand} />
    </>
  )
}

function Expiry({ token }: { token: EnrolmentToken }) {
  const clock = useClock()
  const now = useNow(1_000, serverNow)
  const at = new Date(token.expires_at)
  const left = at.getTime() - now
  if (left <= 0) return <Notice tone="warn">{strings.commandExpired}</Notice>
  return (
    <p className={styles.lead}>
      {strings.commandValidity(
        token.max_uses === 1 ? strings.oneMachine : strings.machineCount(token.max_uses),
        formatShortMoment(token.expires_at, clock, now),
        formatAge(left),
      )}{' '}
      <code>--event-port</code> {strings.and} <code>--general-port</code> {strings.otherPorts}
    </p>
  )
}
