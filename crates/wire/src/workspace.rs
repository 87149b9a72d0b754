//! Workspaces.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Attributes, Relationship, Relationships, Resource, Text};

/// A workspace.
pub type Workspace = Resource<WorkspaceAttributes>;

impl Attributes for WorkspaceAttributes {
    const TYPE: &'static str = "workspaces";
    type Relationships = WorkspaceRelationships;
}

/// What a workspace is like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WorkspaceAttributes {
    /// The name in the config file.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// Always `default`.
    pub environment: Text,
    /// Always `remote`.
    pub execution_mode: Text,
    /// Always true: the daemon runs terraform.
    pub operations: bool,
    /// Whether a run is applied without a person, where that is possible at all.
    pub auto_apply: bool,
    /// Always false: there are no run triggers.
    pub auto_apply_run_trigger: bool,
    /// Always true.
    pub allow_destroy_plan: bool,
    /// Always false.
    pub assessments_enabled: bool,
    /// Always `null`.
    pub auto_destroy_at: Option<Timestamp>,
    /// Always false.
    pub file_triggers_enabled: bool,
    /// Always false.
    pub global_remote_state: bool,
    /// By a person, or by the run that holds it.
    pub locked: bool,
    /// A person's words.
    pub locked_reason: String,
    /// Always true.
    pub queue_all_runs: bool,
    /// Always true.
    pub speculative_enabled: bool,
    /// Always false: logs are as terraform writes them for people.
    pub structured_run_output_enabled: bool,
    /// The terraform that its runs use; `latest` if that is not known, with which no client compares its own.
    pub terraform_version: String,
    /// Always empty.
    pub trigger_prefixes: Vec<String>,
    /// Always empty.
    pub trigger_patterns: Vec<String>,
    /// Always empty: there are no tags.
    pub tag_names: Vec<String>,
    /// Always `null`: with a connection to a host of repositories clients refuse to apply.
    pub vcs_repo: Option<Value>,
    /// Always `null`.
    pub vcs_repo_identifier: Option<String>,
    /// The folder of its source in which terraform runs; empty for its root.
    pub working_directory: String,
    /// Always `tfe-api`. Where the configuration comes from stands in `signalbox.source`.
    pub source: Text,
    /// Always `null`.
    pub source_name: Option<String>,
    /// Always `null`.
    pub source_url: Option<String>,
    /// Which settings are its own.
    pub setting_overwrites: SettingOverwrites,
    /// When it was first seen in the config file.
    pub created_at: Timestamp,
    /// When its own record last changed.
    pub updated_at: Timestamp,
    /// When something last happened to it.
    pub latest_change_at: Timestamp,
    /// What could be done with it.
    pub actions: WorkspaceActions,
    /// What the reader may do with it.
    pub permissions: WorkspacePermissions,
    /// What this daemon says beyond the Terraform Enterprise API.
    pub signalbox: WorkspaceExtension,
}

/// Which settings of a workspace are its own, and not those of its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SettingOverwrites {
    /// Always true.
    pub execution_mode: bool,
    /// Always true.
    pub agent_pool: bool,
}

/// What could be done with a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WorkspaceActions {
    /// Always false: workspaces are kept in the config file.
    pub is_destroyable: bool,
}

/// What the reader may do with a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WorkspacePermissions {
    /// Always false: its settings live in the config file.
    pub can_update: bool,
    /// Always false.
    pub can_destroy: bool,
    /// Always false.
    pub can_force_delete: bool,
    /// Queue a run.
    pub can_queue_run: bool,
    /// Queue a run that is applied, and confirm.
    pub can_queue_apply: bool,
    /// Queue a run that destroys, and confirm.
    pub can_queue_destroy: bool,
    /// Read its runs.
    pub can_read_run: bool,
    /// Always false.
    pub can_read_variable: bool,
    /// Always false.
    pub can_update_variable: bool,
    /// Read its states.
    pub can_read_state_versions: bool,
    /// Read the outputs of its states.
    pub can_read_state_outputs: bool,
    /// Bring a state.
    pub can_create_state_versions: bool,
    /// Lock it.
    pub can_lock: bool,
    /// Release their own lock.
    pub can_unlock: bool,
    /// Release the lock of another.
    pub can_force_unlock: bool,
    /// Read its settings.
    pub can_read_settings: bool,
    /// Always false.
    pub can_manage_tags: bool,
    /// Always false.
    pub can_manage_run_tasks: bool,
    /// Always false.
    pub can_manage_assessments: bool,
    /// Always false.
    pub can_read_assessment_results: bool,
    /// Always false.
    pub can_manage_ephemeral_workspaces: bool,
}

/// What this daemon says of a workspace beyond the Terraform Enterprise API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WorkspaceExtension {
    /// Who kept the state of its last run: `signalbox`, or the backend of its configuration by its kind; `null` before that.
    pub state_kept_by: Option<String>,
    /// Where its terraform configuration comes from; `null` for one that was removed from the config file.
    pub source: Option<WorkspaceSource>,
    /// Why the version of its terraform is not known.
    pub terraform_version_unknown: Option<String>,
    /// When a person locked it.
    pub locked_at: Option<Timestamp>,
    /// When it was removed from the config file.
    pub removed_at: Option<Timestamp>,
}

/// Where the terraform configuration of a workspace comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum WorkspaceSource {
    /// A git repository.
    Git {
        /// Its address, without user and password.
        url: String,
        /// A branch, tag or commit.
        r#ref: String,
    },
    /// A directory of the daemon's machine.
    Directory {
        /// Absolute.
        path: String,
    },
    /// One that this release does not know.
    #[serde(other)]
    #[schemars(skip)]
    Other,
}

/// What a workspace is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct WorkspaceRelationships {
    /// The organization that it belongs to.
    pub organization: Relationship,
    /// The run that holds it, or else its newest final one.
    #[serde(skip_serializing_if = "Relationship::is_left_out")]
    pub current_run: Relationship,
    /// Its current state.
    pub current_state_version: Relationship,
    /// What its current run runs on.
    pub current_configuration_version: Relationship,
    /// The user that locked it, or else the run that holds it.
    #[serde(skip_serializing_if = "Relationship::is_left_out")]
    pub locked_by: Relationship,
    /// The outputs of its current state.
    pub outputs: Relationship,
    /// Always nothing: there are no projects.
    pub project: Relationship,
    /// Always nothing: there are no agents.
    pub agent_pool: Relationship,
    /// Always nothing.
    pub ssh_key: Relationship,
    /// Always nothing.
    pub readme: Relationship,
}

impl Relationships for WorkspaceRelationships {}
