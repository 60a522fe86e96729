import { Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useAddMaster, zonesQuery } from '~/api/inventory'
import { named } from '~/lib/options'
import { fieldsOf } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { strings } from './strings'

/** Add a machine without an agent: the agents of a mesh measure it through its IEEE 1588 master. */
export function NewMaster({ onDone }: { onDone: () => void }) {
  const { data: zones } = useQuery(zonesQuery)
  const add = useAddMaster()
  const field = fieldsOf(add)

  function submit(form: FormData) {
    const text = (name: string) => String(form.get(name)).trim()
    add.mutate(
      {
        name: text('name'),
        zone_id: text('zone_id'),
        probe_address: text('probe_address'),
        responder: text('responder') === 'sptp' ? 'sptp' : 'ieee1588',
        ptp_domain: Number(text('ptp_domain')),
      },
      { onSuccess: onDone },
    )
  }

  return (
    <>
      <Text size="sm" className={pageStyles.quiet}>
        {strings.addMasterLead}
      </Text>
      <ActionForm onSubmit={submit} doing={add} action={strings.add}>
        <TextInput {...field('name')} label={strings.name} placeholder={strings.masterNameExample} required w={150} />
        <Choice {...field('zone_id')} label={strings.zone} required data={named(zones)} w={150} />
        <TextInput {...field('probe_address')} label={strings.address} placeholder="10.0.0.9" required w={150} />
        <Choice
          {...field('responder')}
          label={strings.protocol}
          data={{ ieee1588: strings.unicastNegotiation, sptp: strings.sptp }}
          w={190}
        />
        <NumberField
          {...field('ptp_domain')}
          label={strings.ptpDomain}
          min={0}
          max={127}
          defaultValue={0}
          required
          w={110}
        />
      </ActionForm>
    </>
  )
}
