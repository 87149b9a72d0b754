//! Bringing the workspaces of the store in line with the config file.

use std::collections::BTreeSet;

use lifecycle::id::WorkspaceId;

use crate::context::Context;

/// Brings the workspaces of the store in line with the configuration.
pub(crate) async fn sync_workspaces(context: &Context) -> Result<(), store::Error> {
    let config = context.config();
    let now = context.now();
    // together, since the store writes what waits together in one transaction
    let ensured = config.workspaces.values().map(async |settings| {
        let workspace = context.store.ensure_workspace(&settings.name, now).await?;
        let access = settings.access.iter().map(|(team, level)| (team.clone(), *level)).collect();
        if workspace.access != access {
            context.store.set_access(workspace.id, access).await?;
        }
        Ok::<_, store::Error>(workspace.id)
    });
    let configured: BTreeSet<WorkspaceId> =
        futures::future::try_join_all(ensured).await?.into_iter().collect();
    for workspace in context.store.workspaces().await? {
        if workspace.removed_at.is_none() && !configured.contains(&workspace.id) {
            tracing::info!(workspace = %workspace.name, "removed from the configuration");
            context.store.mark_removed(workspace.id, now).await?;
        }
    }
    Ok(())
}
