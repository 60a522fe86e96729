import { Anchor, Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { useEdits } from '~/api/access'
import { capacityQuery, useUpdateCapacity } from '~/api/inventory'
import type { Capacity } from '~/api/types'
import { changedFields } from '~/lib/edited'
import { Problem } from '~/lib/problem'
import { formatCount } from '~/lib/units'
import { longest } from '~/ui/CheckedInput'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { ActionError, Notice } from '~/ui/State'
import { strings } from './capacityStrings'
import styles from './vm.module.css'

/** The capacity of a VM, within which recommendations place tasks: a form for editors, a list for viewers. */
export function VmCapacity({ vmId }: { vmId: string }) {
  const mayEdit = useEdits()
  return (
    <Panel title={strings.capacity}>
      <p className={pageStyles.lead}>
        {strings.lead}{' '}
        <Anchor inherit underline="always" renderRoot={(root) => <Link {...root} to="/recommendations" />}>
          {strings.recommendations}
        </Anchor>
      </p>
      <QueryResult query={useQuery(capacityQuery(vmId))} what={strings.capacityLower}>
        {(capacity) => (
          <div className={styles.parts}>
            <p>{strings.taken(formatCount(capacity.slots_taken), formatCount(capacity.slots))}</p>
            {mayEdit ? (
              <CapacityForm key={JSON.stringify(limitsOf(capacity))} vmId={vmId} capacity={capacity} />
            ) : (
              <Limits capacity={capacity} />
            )}
          </div>
        )}
      </QueryResult>
    </Panel>
  )
}

type Limits = ReturnType<typeof limitsOf>

function limitsOf({ slots, cpu_millicores, memory_mib, price_per_hour, host }: Capacity) {
  const price = price_per_hour === null ? null : Number(price_per_hour)
  return { slots, cpu_millicores, memory_mib, price_per_hour: price, host }
}

function CapacityForm({ vmId, capacity }: { vmId: string; capacity: Capacity }) {
  const save = useUpdateCapacity(vmId)
  const before = limitsOf(capacity)
  const wrong = (name: string) => (save.error instanceof Problem ? save.error.field(name) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name)).trim()
    const number = (name: string) => (text(name) === '' ? null : Number(text(name)))
    const typed: Limits = {
      slots: Number(text('slots')),
      cpu_millicores: number('cpu_millicores'),
      memory_mib: number('memory_mib'),
      price_per_hour: number('price_per_hour'),
      host: text('host') || null,
    }
    save.mutate(changedFields(before, typed))
  }

  const field = (name: keyof Limits) => ({
    name,
    label: strings.fields[name],
    defaultValue: before[name] ?? '',
    error: wrong(name),
    w: 140,
  })
  return (
    <>
      <form className={pageStyles.form} onSubmit={submit}>
        <NumberField {...field('slots')} min={0} max={1_000_000} required withAsterisk={false} />
        <NumberField {...field('cpu_millicores')} min={0} max={10_000_000} placeholder={strings.noLimit} />
        <NumberField {...field('memory_mib')} min={0} max={1_000_000_000} placeholder={strings.noLimit} />
        <NumberField {...field('price_per_hour')} min={0} max={1_000_000} step="any" placeholder={strings.unknown} />
        <TextInput {...field('host')} {...longest(100)} placeholder={strings.unknown} />
        <Button type="submit" size="sm" variant="default" loading={save.isPending}>
          {strings.save}
        </Button>
      </form>
      {save.isSuccess && <Notice tone="good">{strings.saved}</Notice>}
      <ActionError error={save.error} />
    </>
  )
}

function Limits({ capacity }: { capacity: Capacity }) {
  const shown = limitsOf(capacity)
  return (
    <dl className={styles.facts}>
      {(Object.keys(strings.fields) as (keyof Limits)[]).map((name) => (
        <div key={name} className={styles.row}>
          <dt>{strings.fields[name]}</dt>
          <dd>{shown[name] === null ? strings.notStated : String(shown[name])}</dd>
        </div>
      ))}
    </dl>
  )
}
