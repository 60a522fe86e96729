import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { serverNow } from '~/api/connection'
import { useCreateToken } from '~/api/inventory'
import type { EnrolmentToken, Mesh } from '~/api/types'
import { formatAge, formatMinute, zoneName } from '~/lib/time'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { NumberField } from '~/ui/NumberField'
import { ActionError, Notice } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import { cloudInit, withZone } from './command'
import styles from './onboarding.module.css'

const LIVES = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
]

interface Props {
  mesh: Mesh | undefined
  token: EnrolmentToken | null
  onToken: (token: EnrolmentToken) => void
}

/** The command to run, for as many machines and as long as is wanted. */
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
  return (
    <section className={styles.step}>
      <h2>Run one command on each machine</h2>
      <p className={styles.lead}>
        The agent is one program, <code>sinemora-agent</code>, without dependencies. It never sets the system clock. The
        heatmap groups machines by zone: on AWS, Azure and Google Cloud the agent finds out by itself, elsewhere tell it
        here and the command takes it along.
      </p>
      <div className={styles.row}>
        {zoneField('provider', 'Provider', 'aws')}
        {zoneField('region', 'Region', 'eu-west-1')}
        {zoneField('name', 'Zone', 'eu-west-1a')}
      </div>
      <div className={styles.row}>
        <NumberField
          label="Machines"
          min={1}
          max={10_000}
          w={100}
          disabled={!mesh}
          value={machines}
          onChange={({ currentTarget: { value } }) => setMachines(Math.max(1, Math.trunc(Number(value)) || 1))}
        />
        <NativeSelect
          label="Valid for"
          data={LIVES}
          w={110}
          disabled={!mesh}
          value={life}
          onChange={({ currentTarget: { value } }) => setLife(value)}
        />
        <Button
          size="sm"
          disabled={!mesh}
          loading={create.isPending}
          variant={token ? 'default' : 'filled'}
          onClick={() =>
            mesh &&
            create.mutate({ mesh_id: mesh.id, expires_in_s: Number(life), max_uses: machines }, { onSuccess: onToken })
          }
        >
          {token ? 'New command' : 'Show the command'}
        </Button>
      </div>
      <ActionError error={create.error} />
      {token && (
        <>
          {token.install_command && (
            <>
              <p className={styles.lead}>Installs the agent as a service, after checking what it fetched:</p>
              <CopyText text={withZone(token.install_command, zone)} label="Command that installs the agent" />
              <p className={styles.lead}>As user data of new VMs (cloud-init):</p>
              <CopyText text={cloudInit(withZone(token.install_command, zone))} label="User data for cloud-init" />
              <p className={styles.lead}>Where the agent is installed already:</p>
            </>
          )}
          <CopyText text={withZone(token.command, zone)} label="Command to run on the VM" />
          <Expiry token={token} />
        </>
      )}
    </section>
  )
}

function Expiry({ token }: { token: EnrolmentToken }) {
  const clock = useClock()
  const now = useNow(1_000, serverNow)
  const at = new Date(token.expires_at)
  const left = at.getTime() - now
  if (left <= 0) return <Notice tone="warn">This command has expired. Make a new one.</Notice>
  return (
    <p className={styles.lead}>
      Works on {token.max_uses === 1 ? 'one machine' : `${token.max_uses} machines`} until {formatMinute(at, clock)}{' '}
      {zoneName(clock, at)}, for another {formatAge(left)}. It is shown this once. Ports below 1024 need the right to
      bind them; <code>--event-port</code> and <code>--general-port</code> choose others.
    </p>
  )
}
