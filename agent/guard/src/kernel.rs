//! System calls: the table of flows, the classifier in the kernel, and its place at a queueing discipline.

#![expect(unsafe_code, reason = "system calls that the standard library lacks")]

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::program::{KEY_BYTES, VALUE_BYTES};

/// Flows that the table holds, about 7 MB. Beyond, the one seen longest ago is forgotten.
const FLOWS: u32 = 65_536;

// `enum bpf_cmd`, `enum bpf_map_type` and `enum bpf_prog_type` of linux/bpf.h.
const MAP_CREATE: libc::c_int = 0;
const PROG_LOAD: libc::c_int = 5;
const LRU_HASH: u32 = 9;
const SCHED_CLS: u32 = 3;

/// Kernels before 5.9 give the time only to programs of such a licence.
const LICENCE: &CStr = c"Dual MIT/GPL";

/// The member of `union bpf_attr` for `BPF_MAP_CREATE`.
#[repr(C)]
struct MapAttributes {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
}

/// The member of `union bpf_attr` for `BPF_PROG_LOAD`.
#[repr(C)]
struct ProgramAttributes {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
}

/// Call `bpf(2)`.
///
/// # Safety
/// `T` is the member of `union bpf_attr` for `command`, and every address in it is valid for its length.
unsafe fn bpf<T>(command: libc::c_int, attributes: &mut T) -> io::Result<libc::c_long> {
    // SAFETY: the kernel reads and writes `size_of::<T>()` bytes of the attributes and what they point to.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_mut(attributes),
            size_of::<T>(),
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn owned(fd: libc::c_long) -> OwnedFd {
    // SAFETY: the kernel has just created this descriptor, and nobody else knows it.
    unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) }
}

/// Create the table of flows. It ends with the last descriptor or program that uses it.
pub(super) fn create_map() -> io::Result<OwnedFd> {
    // Kernels before 5.11 count tables as locked memory, of which root has 64 KiB by default.
    let all = Rlimit {
        current: None,
        maximum: None,
    };
    let _ = setrlimit(Resource::Memlock, all);
    let mut attributes = MapAttributes {
        map_type: LRU_HASH,
        key_size: KEY_BYTES as u32,
        value_size: VALUE_BYTES as u32,
        max_entries: FLOWS,
        map_flags: 0,
    };
    // SAFETY: these are the attributes of the command, without addresses.
    unsafe { bpf(MAP_CREATE, &mut attributes) }.map(owned)
}

/// Load a classifier. The error has what the kernel's verifier said, if anything.
pub(super) fn load_program(code: &[u8]) -> io::Result<OwnedFd> {
    let mut prog_name = [0; 16];
    prog_name[..15].copy_from_slice(b"sinemora_egress");
    let mut log = vec![0u8; 1 << 20];
    let mut attributes = ProgramAttributes {
        prog_type: SCHED_CLS,
        insn_cnt: (code.len() / 8) as u32,
        insns: code.as_ptr() as u64,
        license: LICENCE.as_ptr() as u64,
        log_level: 1,
        log_size: log.len() as u32,
        log_buf: log.as_mut_ptr() as u64,
        kern_version: 0,
        prog_flags: 0,
        prog_name,
    };
    // SAFETY: the code, the licence and the log live longer than the call, with their lengths; the licence ends
    // with a zero.
    unsafe { bpf(PROG_LOAD, &mut attributes) }
        .map(owned)
        .map_err(|error| {
            let text = String::from_utf8_lossy(&log);
            let last = text
                .trim_end_matches('\0')
                .trim_end()
                .lines()
                .rev()
                .nth(1)
                .unwrap_or_default();
            if last.is_empty() {
                error
            } else {
                io::Error::new(error.kind(), format!("{error}: {last}"))
            }
        })
}

/// Return the index of an interface.
pub(super) fn interface_index(name: &str) -> io::Result<i32> {
    let name = CString::new(name).map_err(io::Error::other)?;
    // SAFETY: the name ends with a zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as i32),
    }
}

// linux/rtnetlink.h and linux/pkt_cls.h.
const RTM_NEWTFILTER: u16 = 44;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_BPF_FD: u16 = 6;
const TCA_BPF_NAME: u16 = 7;
const ALL_PROTOCOLS: u16 = 3;

/// Attach a program to the queueing discipline `parent` of an interface; it then lives as long as the discipline.
///
/// The message is that of `tc filter add … bpf`, which itself can only name programs in files.
pub(super) fn attach(program: &OwnedFd, interface: i32, parent: u32, name: &str) -> io::Result<()> {
    let mut name = name.as_bytes().to_vec();
    name.push(0);
    let mut options = attribute(TCA_BPF_FD, &program.as_raw_fd().to_ne_bytes());
    options.extend(attribute(TCA_BPF_NAME, &name));
    let priority_and_protocol = 1 << 16 | u32::from(ALL_PROTOCOLS.to_be());
    // struct tcmsg: family and padding, interface, handle, parent, information.
    let mut body = vec![0; 4];
    body.extend(interface.to_ne_bytes());
    for word in [1, parent, priority_and_protocol] {
        body.extend(word.to_ne_bytes());
    }
    body.extend(attribute(TCA_KIND, b"bpf\0"));
    body.extend(attribute(TCA_OPTIONS, &options));
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    request(RTM_NEWTFILTER, flags as u16, &body)
}

/// Return an attribute, padded to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut all = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
    all.extend(kind.to_ne_bytes());
    all.extend(value);
    all.resize(all.len().next_multiple_of(4), 0);
    all
}

/// Send a message to the kernel's routing socket and wait for its acknowledgement.
fn request(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    const HEADER_BYTES: usize = 16;
    // SAFETY: creates a socket.
    let fd = unsafe {
        libc::socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC,
            libc::NETLINK_ROUTE,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    let socket = owned(fd.into());
    let mut message = ((HEADER_BYTES + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    // SAFETY: zeros are a valid address: that of the kernel.
    let mut kernel: libc::sockaddr_nl = unsafe { zeroed() };
    kernel.nl_family = libc::AF_NETLINK as libc::sa_family_t;
    // SAFETY: message and address are valid for their lengths.
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            message.as_ptr().cast(),
            message.len(),
            0,
            (&raw const kernel).cast(),
            size_of::<libc::sockaddr_nl>() as libc::socklen_t,
        )
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = [0u8; 4096];
    // SAFETY: the buffer is valid for its length.
    let received = unsafe {
        libc::recv(
            socket.as_raw_fd(),
            answer.as_mut_ptr().cast(),
            answer.len(),
            0,
        )
    };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    // struct nlmsgerr after the header: 0, or the negative number of an error.
    match answer[..received as usize].get(HEADER_BYTES..HEADER_BYTES + 4) {
        Some(&[a, b, c, d]) => match i32::from_ne_bytes([a, b, c, d]) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        },
        _ => Err(io::Error::other("the kernel's answer is too short")),
    }
}

/// Run a classifier on a frame; return its verdict and the frame afterwards.
#[cfg(test)]
pub(super) fn run_program(program: &OwnedFd, frame: &[u8]) -> io::Result<(u32, Vec<u8>)> {
    const PROG_TEST_RUN: libc::c_int = 10;
    #[repr(C)]
    struct RunAttributes {
        prog_fd: u32,
        retval: u32,
        data_size_in: u32,
        data_size_out: u32,
        data_in: u64,
        data_out: u64,
        repeat: u32,
        duration: u32,
    }
    let mut out = vec![0u8; frame.len()];
    let mut attributes = RunAttributes {
        prog_fd: program.as_raw_fd() as u32,
        retval: 0,
        data_size_in: frame.len() as u32,
        data_size_out: out.len() as u32,
        data_in: frame.as_ptr() as u64,
        data_out: out.as_mut_ptr() as u64,
        repeat: 1,
        duration: 0,
    };
    // SAFETY: both frames live longer than the call, with their lengths.
    unsafe { bpf(PROG_TEST_RUN, &mut attributes) }?;
    Ok((attributes.retval, out))
}
