import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, Fragment, useRef } from 'react'
import { useEdits } from '~/api/access'
import { capacityQuery, useUpdateCapacity } from '~/api/inventory'
import type { Capacity } from '~/api/types'
import { changedFields } from '~/lib/edited'
import { Problem } from '~/lib/problem'
import { formatCount } from '~/lib/units'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { WordLink } from '~/ui/links'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Notice } from '~/ui/State'
import { useEdited } from '~/ui/useEdited'
import { strings } from './capacityStrings'
import styles from './vm.module.css'

/** The capacity of a VM, within which recommendations place tasks: a form for editors, a list for viewers. */
export function VmCapacity({ vmId }: { vmId: string }) {
  const mayEdit = useEdits()
  const query = useQuery(capacityQuery(vmId))
  return (
    <Panel title={strings.capacity}>
      <p className={pageStyles.lead}>
        {strings.lead} <WordLink to="/recommendations">{strings.findBetterPlacements}</WordLink>
      </p>
      <QueryResult query={query} what={strings.capacityLower}>
        {(capacity) => (
          <div className={styles.parts}>
            <p>{strings.taken(formatCount(capacity.slots_taken), formatCount(capacity.slots))}</p>
            {mayEdit ? <CapacityForm vmId={vmId} capacity={capacity} /> : <Limits capacity={capacity} />}
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

const linesOf = (limits: Limits) =>
  Object.fromEntries(
    (Object.keys(strings.fields) as (keyof Limits)[]).map((name) => [strings.fields[name], String(limits[name] ?? '')]),
  )

interface FormProps {
  vmId: string
  capacity: Capacity
}

function CapacityForm({ vmId, capacity }: FormProps) {
  const save = useUpdateCapacity(vmId)
  const edited = useEdited(limitsOf(capacity), String(capacity.version), linesOf)
  const element = useRef<HTMLFormElement>(null)
  const wrong = (name: string) => (save.error instanceof Problem ? save.error.field(name) : undefined)

  function typed(): Limits {
    const form = new FormData(element.current as HTMLFormElement)
    const text = (name: string) => String(form.get(name)).trim()
    const number = (name: string) => (text(name) === '' ? null : Number(text(name)))
    return {
      slots: Number(text('slots')),
      cpu_millicores: number('cpu_millicores'),
      memory_mib: number('memory_mib'),
      price_per_hour: number('price_per_hour'),
      host: text('host') || null,
    }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const changed = typed()
    const { version } = edited
    save.mutate({ ...changedFields(edited.before, changed), version }, { onSuccess: () => edited.saved(changed) })
  }

  const field = (name: keyof Limits) => ({
    name,
    label: strings.fields[name],
    defaultValue: edited.initial[name] ?? '',
    error: wrong(name),
    w: 140,
  })
  return (
    <>
      <form className={pageStyles.form} onSubmit={submit} ref={element}>
        <Fragment key={edited.formKey}>
          <NumberField {...field('slots')} min={0} max={1_000_000} required withAsterisk={false} />
          <NumberField {...field('cpu_millicores')} min={0} max={10_000_000} placeholder={strings.noLimit} />
          <NumberField {...field('memory_mib')} min={0} max={1_000_000_000} placeholder={strings.noLimit} />
          <NumberField {...field('price_per_hour')} min={0} max={1_000_000} step="any" placeholder={strings.unknown} />
          <TextInput {...field('host')} {...longest(100)} placeholder={strings.unknown} />
        </Fragment>
        <Button type="submit" size="sm" variant="default" loading={save.isPending}>
          {strings.save}
        </Button>
      </form>
      {save.isSuccess && <Notice tone="good">{strings.saved}</Notice>}
      <ChangedMeanwhile edited={edited} error={save.error} typed={typed} />
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
