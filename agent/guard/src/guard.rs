//! Starting, removing and showing the guard.
//!
//! All of it is below one root discipline of the interface: queues, classifier and table of flows end with it. So one
//! command removes everything, also what a killed process left half done, and nothing is written to a file.

use std::io::{self, ErrorKind, Write};

use super::arguments::{Action, Settings};
use super::description::{describe, members, notes, rate};
use super::error::GuardError;
use super::iproute::{Iproute, Qdisc};
use super::kernel;
use super::program::{Surroundings, assemble};
use super::shaping::{FIRST_QUEUE, ROOT, Shaping, name};

/// Does what the command line asks for and writes what it did.
///
/// `ports` returns those of measurements. It is not asked when the guard is removed: a wrong setting must not keep it.
pub fn execute(
    action: &Action,
    ports: impl FnOnce() -> Result<Vec<u16>, GuardError>,
    out: &mut impl Write,
) -> Result<(), GuardError> {
    let iproute = Iproute::find()?;
    let text = match action {
        Action::Plan(settings) => plan(&iproute, settings, &ports()?)?,
        Action::On(settings) => on(&iproute, settings, &ports()?)?,
        Action::Off(interface) => off(&iproute, interface.as_deref())?,
        Action::Status(interface) => status(&iproute, interface.as_deref())?,
    };
    // A reader that stops early (`| head`) is not an error.
    let _ = out.write_all(text.as_bytes());
    Ok(())
}

/// Root queueing discipline of an interface.
enum Root {
    /// Default of the kernel.
    Default,
    Ours,
}

/// Check the interface; the error says why the guard cannot be there.
fn root_of(iproute: &Iproute, settings: &Settings) -> Result<Root, GuardError> {
    let interface = &settings.interface;
    let link = iproute.link(interface)?;
    if link.link_type != "ether" {
        return Err(GuardError::Usage(format!(
            "{interface} is of the type {}; the guard reads Ethernet frames. For a tunnel choose the interface that its \
             packets leave by",
            link.link_type
        )));
    }
    let qdiscs = iproute.qdiscs(Some(interface))?;
    match qdiscs.iter().find(|one| one.root) {
        Some(root) if root.is_ours() => Ok(Root::Ours),
        Some(root) if !root.is_default() => Err(GuardError::Failed(format!(
            "{interface} has the root queueing discipline {} {}, which was set by hand or by another tool; the guard does not replace it. If it \
             is not needed: tc {}",
            root.kind,
            root.handle,
            Shaping::removal(interface)
        ))),
        _ => Ok(Root::Default),
    }
}

fn plan(iproute: &Iproute, settings: &Settings, ports: &[u16]) -> Result<String, GuardError> {
    let root = root_of(iproute, settings)?;
    let interface = &settings.interface;
    let mut lines = vec![
        format!("{interface}: {}", describe(settings)),
        String::new(),
    ];
    lines.push(
        "class  flow                                       for itself          DSCP".to_owned(),
    );
    let own_bit = settings.shaping.own_bit();
    for (class, own) in own_bit.iter().enumerate() {
        let point = match &settings.policy.code_points {
            Some(points) => points[class].to_string(),
            None => "as it is".to_owned(),
        };
        let who = members(&settings.policy.order, class);
        lines.push(format!(
            "{:<6} {who:<42} {:<19} {point}",
            class + 1,
            rate(*own)
        ));
    }
    lines.push(format!(
        "Class 1 also has first packets of flows, packets without data, UDP ports {}, ICMP, and what is not IP.",
        ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
    ));
    lines.extend([String::new(), "Commands:".to_owned()]);
    if matches!(root, Root::Ours) {
        lines.push(format!("  tc {}", Shaping::removal(interface)));
    }
    let commands = settings.shaping.commands(interface);
    lines.extend(commands.iter().map(|command| format!("  tc {command}")));
    let bytes = program(settings, ports, 0)?.len();
    lines.push(format!(
        "  an eBPF classifier of {} instructions is loaded and attached to {interface} at {}",
        bytes / 8,
        name(ROOT)
    ));
    lines.push(format!("Removed by: tc {}", Shaping::removal(interface)));
    let gso_bytes = iproute.link(interface)?.gso_max_size;
    lines.extend(
        notes(settings, gso_bytes)
            .into_iter()
            .map(|note| format!("Note: {note}")),
    );
    Ok(lines.join("\n") + "\n")
}

fn on(iproute: &Iproute, settings: &Settings, ports: &[u16]) -> Result<String, GuardError> {
    let interface = &settings.interface;
    let replaces = matches!(root_of(iproute, settings)?, Root::Ours);
    // All that can be refused before anything changes.
    let index = kernel::interface_index(interface)
        .map_err(|error| GuardError::Failed(format!("{interface}: {error}")))?;
    let map = kernel::create_map().map_err(|error| not_permitted(&error))?;
    let code = program(settings, ports, std::os::fd::AsRawFd::as_raw_fd(&map))?;
    let classifier = kernel::load_program(&code).map_err(|error| not_permitted(&error))?;
    let removal = [Shaping::removal(interface)];
    if replaces {
        iproute.change(&removal)?;
    }
    let started = iproute
        .change(&settings.shaping.commands(interface))
        .and_then(|()| {
            kernel::attach(&classifier, index, ROOT, &describe(settings))
                .map_err(|error| not_attached(&error))
        });
    if let Err(error) = started {
        // What is there is ours, if anything: another root would have been refused above.
        let _ = iproute.change(&removal);
        return Err(error);
    }
    let mut text = format!(
        "The guard is on at {interface}. Remove it with: sinemora-guard off --interface {interface}\n"
    );
    for note in notes(settings, iproute.link(interface)?.gso_max_size) {
        text += &format!("Note: {note}\n");
    }
    Ok(text)
}

fn off(iproute: &Iproute, interface: Option<&str>) -> Result<String, GuardError> {
    if let Some(interface) = interface {
        iproute.link(interface)?;
    }
    let guarded = guarded(&iproute.qdiscs(interface)?, interface);
    for interface in &guarded {
        iproute.change(&[Shaping::removal(interface)])?;
    }
    Ok(match (guarded.as_slice(), interface) {
        ([], Some(interface)) => format!("There is no guard on {interface}.\n"),
        ([], None) => "There is no guard on any interface.\n".to_owned(),
        (all, _) => format!("Removed the guard from {}.\n", all.join(", ")),
    })
}

fn status(iproute: &Iproute, interface: Option<&str>) -> Result<String, GuardError> {
    if let Some(interface) = interface {
        iproute.link(interface)?;
    }
    let guarded = guarded(&iproute.qdiscs(interface)?, interface);
    if guarded.is_empty() {
        return Ok(off_text(interface));
    }
    let mut lines = Vec::new();
    for interface in guarded {
        match iproute.classifier(&interface)? {
            Some(classifier) => lines.push(format!("{interface}: {classifier}")),
            None => lines.push(format!(
                "{interface}: not complete: `on` was interrupted. All packets are in one class; run `on` again, or `off`"
            )),
        }
        lines.push("class  sent, bytes      packets       dropped    waiting, bytes".to_owned());
        let mut queues: Vec<(u32, Qdisc)> = iproute
            .qdiscs(Some(&interface))?
            .into_iter()
            .filter_map(|qdisc| Some((class_of(&qdisc.parent)?, qdisc)))
            .collect();
        queues.sort_by_key(|(class, _)| *class);
        for (class, queue) in queues {
            lines.push(format!(
                "{:<6} {:<16} {:<13} {:<10} {}",
                class + 1,
                queue.bytes,
                queue.packets,
                queue.drops,
                queue.backlog
            ));
        }
    }
    Ok(lines.join("\n") + "\n")
}

fn off_text(interface: Option<&str>) -> String {
    match interface {
        Some(interface) => format!("{interface}: off\n"),
        None => "off\n".to_owned(),
    }
}

/// Return the interfaces that have the guard.
fn guarded(qdiscs: &[Qdisc], asked: Option<&str>) -> Vec<String> {
    qdiscs
        .iter()
        .filter(|qdisc| qdisc.is_ours())
        // Some versions of tc leave out the name of the interface that was asked for.
        .map(|qdisc| match asked {
            Some(interface) => interface.to_owned(),
            None => qdisc.dev.clone(),
        })
        .collect()
}

/// Return the class, 0 the highest, of the queue below `parent`; `None` for what is not a queue of the guard.
fn class_of(parent: &str) -> Option<u32> {
    let minor = parent.strip_prefix(&name(ROOT))?;
    u32::from_str_radix(minor, 16)
        .ok()?
        .checked_sub(FIRST_QUEUE)
}

fn program(settings: &Settings, ports: &[u16], map_fd: i32) -> Result<Vec<u8>, GuardError> {
    let queues = settings.shaping.queues();
    let around = Surroundings {
        map_fd,
        queues: &queues,
        ports,
        rate_bit: settings.shaping.used_bit(),
    };
    assemble(&settings.policy, &around)
        .ok_or_else(|| GuardError::Failed("the classifier is too long".to_owned()))
}

fn not_permitted(error: &io::Error) -> GuardError {
    let advice = match error.kind() {
        ErrorKind::PermissionDenied => {
            "; run it as root of the VM (CAP_BPF and CAP_NET_ADMIN), not in a container or a user namespace"
        }
        ErrorKind::InvalidInput => "; Linux 4.18 or newer is needed",
        ErrorKind::Unsupported => "; this kernel has no eBPF (CONFIG_BPF_SYSCALL)",
        _ => "",
    };
    GuardError::Failed(format!(
        "the kernel refuses the eBPF classifier: {error}{advice}"
    ))
}

fn not_attached(error: &io::Error) -> GuardError {
    let advice = match error.kind() {
        ErrorKind::NotFound => {
            "; this kernel has no eBPF classifiers: load or install the module cls_bpf"
        }
        _ => "",
    };
    GuardError::Failed(format!(
        "the classifier cannot be attached: {error}{advice}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_numbered_from_the_highest_class() {
        assert_eq!(class_of("534d:10"), Some(0));
        assert_eq!(class_of("534d:17"), Some(7));
        assert_eq!(class_of("534d:1"), None);
        assert_eq!(class_of("1:10"), None);
        assert_eq!(class_of(""), None);
    }

    #[test]
    fn errors_of_the_kernel_come_with_what_to_do() {
        let error = |number| io::Error::from_raw_os_error(number);
        assert!(
            not_permitted(&error(libc::EPERM))
                .to_string()
                .contains("as root")
        );
        assert!(
            not_permitted(&error(libc::ENOSYS))
                .to_string()
                .contains("CONFIG_BPF_SYSCALL")
        );
        assert!(
            not_permitted(&error(libc::EINVAL))
                .to_string()
                .contains("4.18")
        );
        assert!(
            not_attached(&error(libc::ENOENT))
                .to_string()
                .contains("cls_bpf")
        );
    }
}
