//! Types that contain themselves, which Rust wants in a box.

use super::model::{Declared, Field, Kind, RustType, TypeId};

/// Boxes every field that leads back to its own type without a list or a map in between, which are on
/// the heap already.
pub(crate) fn cut(types: &mut [Declared]) {
    let edges: Vec<Vec<TypeId>> = types.iter().map(inline).collect();
    for id in 0..types.len() {
        for target in edges.get(id).into_iter().flatten().copied() {
            if reaches(&edges, target, id) {
                let Some(Kind::Object(fields) | Kind::Throwable(fields)) =
                    types.get_mut(id).map(|declared| &mut declared.kind)
                else {
                    continue;
                };
                fields.iter_mut().for_each(|field| put_in_box(&mut field.typed.ty, target));
            }
        }
    }
}

/// The types that lie in a value of this one.
fn inline(declared: &Declared) -> Vec<TypeId> {
    let fields: &[Field] = match &declared.kind {
        Kind::Object(fields) | Kind::Throwable(fields) => fields,
        Kind::Constants(_) => &[],
    };
    let target = |field: &Field| match &field.typed.ty {
        RustType::Declared(id) => Some(*id),
        RustType::Option(inner) => match **inner {
            RustType::Declared(id) => Some(id),
            _ => None,
        },
        _ => None,
    };
    fields.iter().filter_map(target).collect()
}

fn put_in_box(ty: &mut RustType, target: TypeId) {
    match ty {
        RustType::Declared(id) if *id == target => *ty = RustType::Boxed(target),
        RustType::Option(inner) => put_in_box(inner, target),
        _ => {}
    }
}

fn reaches(edges: &[Vec<TypeId>], from: TypeId, to: TypeId) -> bool {
    let mut seen = vec![false; edges.len()];
    let mut waiting = vec![from];
    while let Some(id) = waiting.pop() {
        if id == to {
            return true;
        }
        if let Some(seen) = seen.get_mut(id)
            && !std::mem::replace(seen, true)
        {
            waiting.extend(edges.get(id).into_iter().flatten());
        }
    }
    false
}
